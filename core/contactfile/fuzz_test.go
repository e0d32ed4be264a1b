package contactfile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/contactfile"
)

// FuzzCSV checks that reading any input ends without a panic, and that the rows are the
// records that encoding/csv reads. A row has either a fault or the contact that its cells
// describe. Written to a file and read again, the contact is the same.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"email,plan\na@b.example,pro\n", "\xef\xbb\xbfemail;lists\r\n\"a\"\"b\";x|y\r\n", "email\n\"open\n", "email,city\n\xff,\x00\n",
		"external_id\tunsubscribe_all\n1\tno\n", "email,email\n", "\xff\xfe", "email,topics.x\na,maybe\n",
		"email,topics.x,city,other\n\na , yes,\"1\n2\",\xff\nb,,,\nc\n", "\"email\",\"topics.\n\xff\"\na,yes\n",
	} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, clearing bool) {
		cfg := config
		cfg.IgnoreUnknown, cfg.ClearEmpty = true, clearing
		r, err := contactfile.Open(bytes.NewReader(text), cfg)
		if err != nil {
			return
		}
		records := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
		records.Comma, records.FieldsPerRecord = r.Delimiter(), -1
		if header, err := records.Read(); err != nil || !cmp.Equal(header, r.Header()) {
			t.Fatalf("header %q, want %q, %v", r.Header(), header, err)
		}
		for {
			row, err := r.Next()
			cells, wrong := records.Read()
			if err != nil {
				if len(text) < contactfile.MaxRecord && (!errors.Is(err, io.EOF) || !errors.Is(wrong, io.EOF)) {
					t.Fatalf("ends with %v, want %q, %v", err, cells, wrong)
				}
				return
			}
			if !cmp.Equal(row.Cells, cells[:min(len(cells), len(r.Header()))]) || wrong != nil && row.Fault == "" {
				t.Fatalf("%+v, want %q, %v", row, cells, wrong)
			}
			if wrong == nil {
				checkContact(t, r, row, cells, clearing)
			}
			if row.JSON != nil {
				checkReadAgain(t, r, row, cfg)
			}
		}
	})
}

// checkContact checks that the row has a fault if contactOf refuses the cells of its record,
// and else the contact that contactOf returns.
func checkContact(t *testing.T, r *contactfile.Reader, row contactfile.Row, cells []string, clearing bool) {
	t.Helper()
	want, valid := contactOf(r.Mapping(), cells, clearing)
	if valid != (row.Fault == "") || valid != (row.JSON != nil) {
		t.Fatalf("%q of %q has the fault %q", row.JSON, row.Cells, row.Fault)
	}
	if !valid {
		return
	}
	var got map[string]any
	if err := json.Unmarshal(row.JSON, &got); err != nil {
		t.Fatalf("%q of %q: %v", row.JSON, row.Cells, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-want +got):\n%s", row.Cells, diff)
	}
}

var words = map[string]bool{"true": true, "yes": true, "1": true, "false": false, "no": false, "0": false}

var choices = map[string]string{
	"opt_in": "OPT_IN", "subscribed": "OPT_IN", "true": "OPT_IN", "yes": "OPT_IN", "1": "OPT_IN",
	"opt_out": "OPT_OUT", "unsubscribed": "OPT_OUT", "false": "OPT_OUT", "no": "OPT_OUT", "0": "OPT_OUT",
}

// marked matches a cell to which an export has added an apostrophe.
var marked = regexp.MustCompile("^'+[=+\\-@\t\r\n＝＋－＠]")

// plain returns the text of a cell without the apostrophe of an export.
func plain(cell string) string {
	if marked.MatchString(cell) {
		return cell[1:]
	}
	return cell
}

// contactOf returns the contact that the cells describe, and whether they are valid. The
// parameter mapping has what each cell sets.
func contactOf(mapping, cells []string, clearing bool) (map[string]any, bool) {
	if len(cells) != len(mapping) {
		return nil, false
	}
	contact := map[string]any{}
	set := func(object, name string, value any) {
		if contact[object] == nil {
			contact[object] = map[string]any{}
		}
		contact[object].(map[string]any)[name] = value
	}
	for i, target := range mapping {
		cell, valid := cells[i], true
		word := strings.ToLower(strings.TrimSpace(cell))
		attribute, isAttribute := strings.CutPrefix(target, "attributes.")
		topic, isTopic := strings.CutPrefix(target, "topics.")
		switch {
		case target == "", cell == "" && !(isAttribute && clearing):
		case !utf8.ValidString(cell), strings.Contains(cell, "\x00"):
			valid = false
		case isAttribute && cell == "":
			set("attributes", attribute, nil)
		case isAttribute:
			set("attributes", attribute, plain(cell))
		case isTopic:
			_, valid = choices[word]
			set("topic_preferences", topic, choices[word])
		case target == "unsubscribe_all":
			_, valid = words[word]
			contact[target] = words[word]
		case target == "lists":
			var keys []any
			for key := range strings.SplitSeq(plain(cell), "|") {
				keys = append(keys, strings.TrimSpace(key))
			}
			contact[target] = keys
		case target == "email":
			contact[target] = strings.TrimSpace(plain(cell))
		default:
			contact[target] = plain(cell)
		}
		if !valid {
			return nil, false
		}
	}
	return contact, true
}

// checkReadAgain writes the row to a file with the same header and reads that file. The
// contact must be the same. It checks no file with a carriage return in a cell, because
// encoding/csv reads a carriage return as a part of a line break, and no file with a byte
// order mark in a cell. It also checks no row of one empty cell, because encoding/csv
// writes that row as an empty line.
func checkReadAgain(t *testing.T, r *contactfile.Reader, row contactfile.Row, cfg contactfile.Config) {
	t.Helper()
	if slices.Equal(row.Cells, []string{""}) || strings.ContainsAny(strings.Join(slices.Concat(r.Header(), row.Cells), ""), "\r\ufeff") {
		return
	}
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	w.Comma = r.Delimiter()
	if err := w.WriteAll([][]string{r.Header(), row.Cells}); err != nil {
		t.Fatal(err)
	}
	cfg.Delimiter = r.Delimiter()
	again, err := all(t, file.String(), cfg)
	if want := []string{string(row.JSON)}; err != nil || !cmp.Equal(again, want) {
		t.Fatalf("%q has %q, %v, want %q", file.String(), again, err, want)
	}
}
