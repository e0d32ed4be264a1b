package admin

// printList prints a list, as JSON with --json and otherwise as a table with the given
// header. The JSON object has one member, an array. The function show converts one thing to
// an array element and a table row. Without things, the table has only the header and the
// array is empty.
func printList[Thing, Shown any](s *session, member string, header []string, things []Thing, show func(Thing) (Shown, []string)) error {
	listed, rows := make([]Shown, len(things)), [][]string{header}
	for i, thing := range things {
		var row []string
		listed[i], row = show(thing)
		rows = append(rows, row)
	}
	if s.JSON {
		return s.PrintJSON(map[string]any{member: listed})
	}
	return s.PrintTable("", rows)
}
