package person

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/privacy"
)

// eraseFromFiles removes the rows that mention an address from CSV files, and returns their
// numbers. With dryRun it only counts them.
func eraseFromFiles(names []string, address string, dryRun bool) ([]fileJSON, error) {
	mention := privacy.NewMention(privacy.Person{Key: core.EmailKey(address)}, privacy.NewPseudonym())
	var all []fileJSON
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return all, err
		}
		kept, removed, err := withoutRows(content, mention)
		if err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		if removed > 0 && !dryRun {
			if err := replaceFile(name, kept); err != nil {
				return all, err
			}
		}
		all = append(all, fileJSON{name, removed})
	}
	return all, nil
}

// withoutRows returns a CSV file without the rows that mention a person, byte for byte otherwise,
// and the number of these rows.
func withoutRows(content []byte, mention privacy.Mention) ([]byte, int, error) {
	rows := csv.NewReader(bytes.NewReader(content))
	rows.FieldsPerRecord, rows.LazyQuotes, rows.ReuseRecord = -1, true, true
	rows.Comma = commaOf(content)
	var kept bytes.Buffer
	removed, begin := 0, int64(0)
	for {
		row, err := rows.Read()
		end := rows.InputOffset()
		if errors.Is(err, io.EOF) {
			kept.Write(content[begin:])
			return kept.Bytes(), removed, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if mention.Matches(strings.Join(row, "\n")) {
			removed++
		} else {
			kept.Write(content[begin:end])
		}
		begin = end
	}
}

// commaOf returns the separator that is most frequent in the first line.
func commaOf(content []byte) rune {
	header, _, _ := bytes.Cut(content, []byte("\n"))
	comma := ','
	for _, other := range ";\t" {
		if bytes.ContainsRune(header, other) && bytes.Count(header, []byte(string(other))) > bytes.Count(header, []byte(string(comma))) {
			comma = other
		}
	}
	return comma
}

// replaceFile replaces the content of a file at once, so that a crash leaves the old or the new
// content.
func replaceFile(name string, content []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".mailhelm-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // it has been renamed, or is of no use
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
