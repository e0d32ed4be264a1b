package contactfile_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/contactfile"
)

var config = contactfile.Config{Attributes: []string{"plan", "city"}}

// all reads all rows of a contact file. It returns the JSON of each valid row, and "!" with
// the reason for each invalid row.
func all(t *testing.T, text string, cfg contactfile.Config) ([]string, error) {
	t.Helper()
	r, err := contactfile.Open(strings.NewReader(text), cfg)
	if err != nil {
		return nil, err
	}
	var rows []string
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if row.Fault != "" {
			rows = append(rows, "!"+row.Fault)
			continue
		}
		rows = append(rows, string(row.JSON))
	}
}

func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	clearing := config
	clearing.ClearEmpty, clearing.Rebind = true, true
	mapped := contactfile.Config{Attributes: config.Attributes, Map: map[string]string{"Mail": "email", "Abo": "attributes.plan", "News": "topics.news", "Notes": ""}}
	for name, c := range map[string]struct {
		text string
		cfg  contactfile.Config
		want []string
	}{
		"plain":           {"email,plan\na@b.example,pro\n", config, []string{`{"email":"a@b.example","attributes":{"plan":"pro"}}`}},
		"mark, CRLF":      {"\xef\xbb\xbfE-Mail;External ID\r\n a@b.example ;7\r\n", config, []string{`{"email":"a@b.example","external_id":"7"}`}},
		"quoted":          {"email\tcity\na@b.example\t\"two\nlines, \"\"and\"\" more\"\n", config, []string{`{"email":"a@b.example","attributes":{"city":"two\nlines, \"and\" more"}}`}},
		"fields":          {"external_id,unsubscribe_all,lists,topics.news\n1,Yes,a | b,no\n2,,,\n", config, []string{`{"external_id":"1","unsubscribe_all":true,"lists":["a","b"],"topic_preferences":{"news":"OPT_OUT"}}`, `{"external_id":"2"}`}},
		"empty cells":     {"email,plan\na@b.example,\n", clearing, []string{`{"email":"a@b.example","rebind_external_id":true,"attributes":{"plan":null}}`}},
		"mapped":          {"Mail,Abo,News,Notes\na@b.example,pro,opt_in,x\n", mapped, []string{`{"email":"a@b.example","attributes":{"plan":"pro"},"topic_preferences":{"news":"OPT_IN"}}`}},
		"rejected before": {"email,rejected_line,rejected_reason\na@b.example,7,why\n", config, []string{`{"email":"a@b.example"}`}},
		"faults": {"email,plan,unsubscribe_all\na@b.example\n\"x\"y,pro,\nb@b.example,caf\xe9,\nc@b.example,\x00,\nd@b.example,pro,perhaps\ne@b.example,pro,true\n", config, []string{
			"!must have as many fields as the header: 3, not 1",
			`!line 3 is not valid CSV: extraneous or missing " in quoted-field`,
			`!column "plan" is not in UTF-8: the file may be in Latin-1 or Windows-1252`,
			`!column "plan" holds a NUL character`,
			`!column "unsubscribe_all" must be true or false`,
			`{"email":"e@b.example","unsubscribe_all":true,"attributes":{"plan":"pro"}}`,
		}},
	} {
		got, err := all(t, c.text, c.cfg)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestOtherFilesAreNamed checks the errors for files in another format, such as UTF-16 or
// gzip, and for unusable headers. Each error must name the problem.
func TestOtherFilesAreNamed(t *testing.T) {
	t.Parallel()
	mapping := func(from, to string) contactfile.Config {
		return contactfile.Config{Attributes: config.Attributes, Map: map[string]string{from: to}}
	}
	for _, c := range []struct {
		text, want string
		cfg        contactfile.Config
	}{
		{"", "is empty", config},
		{" \n\n", "is empty", config},
		{"\xff\xfee\x00m\x00", "UTF-16", config},
		{"e\x00m\x00a\x00\n", "UTF-16", config},
		{"\x1f\x8bxx", "gzip", config},
		{"PK\x03\x04xx", "spreadsheet", config},
		{"%PDF-1.7", "PDF", config},
		{"email,stra\xdfe\n", "Latin-1", config},
		{"\nemail,stra\xdfe\n", "Latin-1", config},
		{"\"email\",\"\nstra\xdfe\"\n", "Latin-1", config},
		{"\nemail,\x00\n", "NUL", config},
		{"plan\npro\n", "no column is email or external_id", config},
		{"email,Surprise,plan\n", `"Surprise"`, config},
		{"email,E-Mail\n", "both map to email", config},
		{"email\n", `no column "nobody"`, mapping("nobody", "email")},
		{"Mail\n", `no field or attribute "mial"`, mapping("Mail", "mial")},
		{"email,\"plan\n" + strings.Repeat("a@b.example,pro\n", 200_000), "quotes are closed", config},
		{strings.Repeat("a,", 600) + "email\n", "more than 500", config},
	} {
		if _, err := all(t, c.text, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestEndlessRecords checks that a record without an end causes an error that names the
// line. Otherwise the record would fill the memory.
func TestEndlessRecords(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{`"`, ""} {
		endless := io.MultiReader(strings.NewReader("email,plan\na@b.example,pro\nb@b.example,"+tail), endless{})
		r, err := contactfile.Open(endless, config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "longer than 1 MiB") || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("an endless record: %v", err)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestCellsBeyondTheHeaderAreDropped checks that a row of many cells keeps only those below
// the header, that its fault has the true number, and that later line numbers are right.
func TestCellsBeyondTheHeaderAreDropped(t *testing.T) {
	t.Parallel()
	wide := "a,b" + strings.Repeat(",", 10_000) + "\"\n\n\"\n"
	r, err := contactfile.Open(strings.NewReader("email,plan\n"+wide+"\"x\"y,"+strings.Repeat(",", 10_000)+"\na@b.example,pro\n\""+strings.Repeat("x", 2<<20)), config)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []contactfile.Row{
		{Line: 2, Cells: []string{"a", "b"}, Fault: "must have as many fields as the header: 2, not 10002"},
		{Line: 5, Fault: `line 5 is not valid CSV: extraneous or missing " in quoted-field`},
		{Line: 6, Cells: []string{"a@b.example", "pro"}},
	} {
		row, err := r.Next()
		if err != nil || row.Line != want.Line || row.Fault != want.Fault || len(row.Cells) > 2 || want.Cells != nil && !cmp.Equal(row.Cells, want.Cells) {
			t.Errorf("row %d: line %d, %d cells, fault %q, %v", i, row.Line, len(row.Cells), row.Fault, err)
		}
		if i == 0 && (cap(row.Cells) > 2 || row.Size != int64(len(wide))) {
			t.Errorf("room for %d cells, size %d", cap(row.Cells), row.Size)
		}
	}
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "line 7") {
		t.Errorf("the end: %v", err)
	}
	sample, err := contactfile.ReadSample(strings.NewReader("email,plan\n" + wide))
	if err != nil || !cmp.Equal(sample.Rows, [][]string{{"a", "b"}}) {
		t.Errorf("sample of %d cells, %v", len(sample.Rows[0]), err)
	}
}

// TestFaultsAreShort checks that the fault of a row does not repeat a long header, because
// each row of a file may have a fault.
func TestFaultsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60_000)
	rows, err := all(t, "email,"+long+"\na@b.example,\xff\nb@b.example,\x00\nc@b.example,perhaps\n", contactfile.Config{Map: map[string]string{long: "unsubscribe_all"}})
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for _, row := range rows {
		if !strings.HasPrefix(row, `!column "xxx`) || len(row) > 300 {
			t.Errorf("%d bytes: %.50s", len(row), row)
		}
	}
}
