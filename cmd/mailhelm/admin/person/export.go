package person

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/rest/dashboard/persons"
)

// export is `mailhelm admin person export`.
type export struct {
	target
	Output string `help:"Path of the two files without their ending: .json and .html are appended." default:"person" placeholder:"PATH"`
}

// exportJSON is the form in which --json prints the result. Scripts rely on its members.
type exportJSON struct {
	OrgID string   `json:"org_id"`
	Files []string `json:"files"`
	// Rows is the number of rows by table.
	Rows map[string]int `json:"rows"`
}

// Run writes the files. It never replaces a file.
func (c *export) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s session) error {
		e, err := s.privacy.Export(ctx, operator(), s.org.ID, c.Address)
		if err != nil {
			return p.Explain(err)
		}
		shown := exportJSON{OrgID: s.org.ID, Rows: map[string]int{}}
		for _, t := range e.Tables {
			shown.Rows[t.Name] = len(t.Rows)
		}
		writers := []struct {
			ending string
			write  func(io.Writer) error
		}{{".json", func(w io.Writer) error { return writeJSON(w, e) }}, {".html", func(w io.Writer) error { return persons.WriteExport(w, e) }}}
		for _, f := range writers {
			if err := writeNew(c.Output+f.ending, f.write); err != nil {
				return err
			}
			shown.Files = append(shown.Files, c.Output+f.ending)
		}
		if s.JSON {
			return s.PrintJSON(shown)
		}
		var rows [][]string
		for _, name := range shown.Files {
			rows = append(rows, []string{"written", name})
		}
		return s.PrintTable("", rows)
	})
}

func writeJSON(w io.Writer, e privacy.Export) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(e)
}

// writeNew writes a file that only its owner can read. It fails if the file exists.
func writeNew(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return errors.New(name + " exists: delete it, or choose another path with --output")
	}
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
