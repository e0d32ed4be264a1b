package inboxes

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestNoTrace receives a mail, reads it by the API and by its pull link, and deletes the inbox.
// Then neither the database nor the folder of objects has anything of the mail. At no time does
// the log, with debug messages, have anything of it or of the pull link.
func TestNoTrace(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		var log buffer
		p := product.Start(t, product.Options{Postgres: postgres, Log: &log})
		box := mint(t, p, "")
		if err := send(p.SMTPAddr, "bounces@acme.test", box.Address, signUp(box.Address)); err != nil {
			t.Fatal(err)
		}
		got := read(t, p, box.PollURL+"?wait=25", p.Live.APIKey)
		check(t, p, got, box, signUp(box.Address))
		check(t, p, read(t, p, box.PullURL, ""), box, signUp(box.Address))
		const code = "482913"
		ofMail := []string{"acme.test", code, "terms.txt", "The terms"}
		if search(t, p, postgres, []string{code}) == "" || objectsOf(t, p, ofMail) == 0 {
			t.Fatal("the search does not find the mail that is stored, or not its code")
		}
		path := p.BaseURL + "/v1/inboxes/" + box.ID
		if answer := p.Send(t, product.Request{Method: http.MethodDelete, URL: path, Bearer: p.Live.APIKey}); answer.Status != http.StatusNoContent {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		product.Await(t, 30*time.Second, func() error {
			if found, n := search(t, p, postgres, ofMail), objectsOf(t, p, ofMail); found != "" || n > 0 {
				return fmt.Errorf("%d objects are left, and %s", n, found)
			}
			return nil
		})
		_, secret, _ := strings.Cut(strings.TrimSuffix(box.PullURL, "/messages"), "/p/")
		if found := search(t, p, postgres, []string{secret}); found != "" {
			t.Errorf("the secret of the pull link is stored: %s", found)
		}
		local, _, _ := strings.Cut(box.Address, "@")
		for _, text := range append(ofMail, secret, local) {
			if holds(log.String(), text) {
				t.Errorf("the log has %q", text)
			}
		}
		if !strings.Contains(log.String(), "inboxes_messages") {
			t.Error("the log has no line about the poll")
		}
	})
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// objectsOf returns the number of files in the folder of objects, of packs only those that
// contain one of the texts.
func objectsOf(t *testing.T, p *product.Product, texts []string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(p.DataDir, "objects"), func(path string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // the purge may remove a file or a folder during the walk
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		has := func(text string) bool { return holds(string(content), text) }
		if err == nil && (filepath.Base(filepath.Dir(path)) != "packs" || slices.ContainsFunc(texts, has)) {
			n++
		}
		if os.IsNotExist(err) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// search returns the first row of any table that contains one of the texts, "" for none.
func search(t *testing.T, p *product.Product, postgres bool, texts []string) string {
	t.Helper()
	list := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
	if postgres {
		list = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
	}
	db := p.SQL(t)
	for _, table := range rowsOf(t, db, list) {
		for _, row := range rowsOf(t, db, `SELECT * FROM "`+table+`"`) { //nolint:unqueryvet // any column may have it
			for _, text := range texts {
				if holds(row, text) {
					return table + ": " + row
				}
			}
		}
	}
	return ""
}

// holds reports whether content contains text. Digits are found only where they are not a part
// of a longer decimal or hexadecimal number, because times and identifiers have any digits.
func holds(content, text string) bool {
	if !strings.Contains(content, text) {
		return false
	}
	return strings.Trim(text, "0123456789") != "" ||
		regexp.MustCompile("(^|[^[:xdigit:]])"+text+"($|[^[:xdigit:]])").MatchString(content)
}

// TestHolds checks which places of a text count as places of a code.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		content, text string
		want          bool
	}{
		{"482913", "482913", true},
		{"Your code is 482913.", "482913", true},
		{`{"codes":["482913"]}`, "482913", true},
		{`\n482913\n`, "482913", true},
		{"contact 1790482913000000 active", "482913", false},
		{"482913000 1482913", "482913", false},
		{"01a22506-155a-7385-bb11-8d914829136c", "482913", false},
		{"1790482913000000 and 482913", "482913", true},
		{"1212 12", "12", true},
		{"1212", "12", false},
		{"111", "11", false},
		{"111 11", "11", true},
		{"", "482913", false},
		{"mail of bounces@acme.test", "acme.test", true},
		{"mail of xacme.testx", "acme.test", true},
		{"mail", "acme.test", false},
	} {
		if got := holds(tc.content, tc.text); got != tc.want {
			t.Errorf("holds(%q, %q) = %v, want %v", tc.content, tc.text, got, tc.want)
		}
	}
}

// rowsOf returns each row of a result as text.
func rowsOf(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var all []string
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String
		}
		all = append(all, strings.Join(texts, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
