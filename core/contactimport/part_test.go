package contactimport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
)

// slow takes a second to import each part, and the part with the row "failed" fails.
type slow struct {
	People
	began time.Time

	mu sync.Mutex
	// parts has the first row of each part, with the seconds after which its import began and
	// ended, and why.
	parts []string
}

func (*slow) IsImported(context.Context, string, string) (bool, error) { return false, nil }

func (*slow) Erased(context.Context, string, []string) (map[string]bool, error) { return nil, nil }

func (s *slow) Import(ctx context.Context, orgID string, _ consent.Source, _ string, rows []json.RawMessage) ([]bulk.Item, error) {
	began := time.Since(s.began)
	var err error
	switch {
	case strings.Contains(string(rows[0]), "failed"):
		err = errors.New("cannot be stored")
	default:
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, fmt.Sprintf("%s %.0f-%.0f %v", firstName(rows[0]), began.Seconds(), time.Since(s.began).Seconds(), err))
	if err != nil {
		return nil, err
	}
	return accepting{}.TryImport(ctx, orgID, rows)
}

// firstName returns the local part of the first address of a row, or the external id.
func firstName(row json.RawMessage) string {
	var of struct {
		Email      string
		ExternalID string `json:"external_id"`
	}
	if err := json.Unmarshal(row, &of); err != nil {
		return err.Error()
	}
	name, _, _ := strings.Cut(of.Email, "@")
	return cmp.Or(name, of.ExternalID)
}

// fileOf returns a file of parts with full numbers of rows. Each part begins with the given
// record, in which the address is followed by the external id.
func fileOf(firstRecords ...string) string {
	text := strings.Builder{}
	text.WriteString("email,external_id\n")
	for part, record := range firstRecords {
		text.WriteString(record + "\n")
		for i := range maxRows - 1 {
			fmt.Fprintf(&text, "%d-%d@example.com,\n", part, i)
		}
	}
	return text.String()
}

// TestPartsAtOnce checks which parts of a file are stored at the same time: at most two, and none
// with a part that may change the same contacts. Outcomes are reported in the order of the file.
func TestPartsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]atOnce{
		"by itself": {
			[]string{"a@example.com,", "b@example.com,"},
			0,
			[]string{"a 0-1 <nil>", "b 1-2 <nil>"},
			2 * maxRows, "<nil>",
		},
		"two": {
			[]string{"a@example.com,", "b@example.com,", "c@example.com,"},
			2,
			[]string{"a 0-1 <nil>", "b 0-1 <nil>", "c 1-2 <nil>"},
			3 * maxRows, "<nil>",
		},
		"the same address": {
			[]string{"a@example.com,", "A@EXAMPLE.com,", "c@example.com,"},
			2,
			[]string{"A 1-2 <nil>", "a 0-1 <nil>", "c 1-2 <nil>"},
			3 * maxRows, "<nil>",
		},
		"an external id": {
			[]string{"a@example.com,", "b@example.com,crm-1", "c@example.com,", ",crm-2"},
			2,
			[]string{"a 0-1 <nil>", "b 1-2 <nil>", "c 2-3 <nil>", "crm-2 3-4 <nil>"},
			4 * maxRows, "<nil>",
		},
		"an invalid row": {
			[]string{"a@example.com,", "b@example.com,,too,many", "c@example.com,"},
			2,
			[]string{"1-0 0-1 <nil>", "a 0-1 <nil>", "c 1-2 <nil>"},
			3 * maxRows, "<nil>",
		},
		"a failure": {
			[]string{"a@example.com,", "failed@example.com,", "c@example.com,"},
			2,
			[]string{"a 0-1 <nil>", "c 1-1 cannot be stored", "failed 0-0 cannot be stored"},
			maxRows, "cannot be stored",
		},
		"a failure beside another part": {
			[]string{"failed@example.com,", "b@example.com,", "c@example.com,"},
			2,
			[]string{"b 0-0 cannot be stored", "failed 0-0 cannot be stored"},
			0, "cannot be stored",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, c.check)
		})
	}
}

// atOnce is an import of parts, each with a first record.
type atOnce struct {
	firstRecords []string
	most         int
	// parts has what slow notes, sorted. rows is the number of reported rows.
	parts []string
	rows  int
	err   string
}

func (c atOnce) check(t *testing.T) {
	people := &slow{began: time.Now()}
	rows, err := contactfile.Open(strings.NewReader(fileOf(c.firstRecords...)), contactfile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	sum, err := Run(t.Context(), Config{
		People: people, AtOnce: c.most,
		Rejected: func(contactfile.Row, string) error { return nil },
		Each:     func(row contactfile.Row, _ contactupload.Outcome) { lines = append(lines, row.Line) },
	}, rows)
	if fmt.Sprint(err) != c.err {
		t.Errorf("%v, want %q", err, c.err)
	}
	if slices.Sort(people.parts); !slices.Equal(people.parts, c.parts) {
		t.Errorf("parts\n%s\nwant\n%s", strings.Join(people.parts, "\n"), strings.Join(c.parts, "\n"))
	}
	if sum.Rows != c.rows || len(lines) != c.rows || !slices.IsSorted(lines) {
		t.Errorf("%d rows, %d reported, in order %t; want %d", sum.Rows, len(lines), slices.IsSorted(lines), c.rows)
	}
}
