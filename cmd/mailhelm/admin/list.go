package admin

// printList prints things as a table, whose first row is header, or as a JSON object
// with one member: the array of what show returns for each. show also returns the
// table's row. An empty list prints only the header, or an empty array. The order of
// things stays.
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
