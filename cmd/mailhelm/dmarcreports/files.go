package dmarcreports

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
)

// standardInput is the name that stands for standard input.
const standardInput = "-"

// maxMail is the size of the largest mail whose attachments are read, in bytes.
const maxMail = 64 << 20

// limits allow more than those for mail, because the user of a command has chosen the files.
var limits = report.Limits{Bytes: 16 << 30, Packed: 256 << 20, Documents: 10_000}

// found is a file to read.
type found struct {
	name string
	// size is 0 for standard input.
	size int64
	// inFolder is true for a file that was not named itself.
	inFolder bool
}

// find returns the files that arguments name, and their size together. A folder stands for the
// files in it and in its folders, in the order of their paths, without hidden ones.
func find(arguments []string) (files []found, size int64, err error) {
	for _, name := range arguments {
		if name == standardInput {
			files = append(files, found{name: name})
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, 0, err
		}
		if !info.IsDir() {
			files = append(files, found{name, info.Size(), false})
			continue
		}
		inside, err := findIn(name)
		if err != nil {
			return nil, 0, err
		}
		files = append(files, inside...)
	}
	for _, f := range files {
		size += f.size
	}
	return files, size, nil
}

func findIn(folder string) (files []found, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(entry.Name(), ".") && path != folder; {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return filepath.SkipDir
		case hidden || !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files = append(files, found{path, info.Size(), true})
		return nil
	})
	return files, err
}

// mailHeader matches the begin of a mail: the name of a field, or the line of an mbox file.
var mailHeader = regexp.MustCompile(`^(From |[A-Za-z][A-Za-z0-9-]*:)`)

// documents calls each for every document of the file. In a mail, that are those of its attachments
// and of its body.
func (f found) documents(stdin io.Reader, each func(io.Reader) error) error {
	from := io.NopCloser(stdin)
	if f.name != standardInput {
		file, err := os.Open(f.name)
		if err != nil {
			return err
		}
		from = file
	}
	in := bufio.NewReader(from)
	head, _ := in.Peek(100) // an error comes again when it is read
	if !mailHeader.Match(head) {
		return errors.Join(report.Unpack(in, limits, each), from.Close())
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxMail+1))
	if err = errors.Join(err, from.Close()); err != nil {
		return err
	}
	if len(raw) > maxMail {
		return report.ErrTooLarge
	}
	return attached(raw, each)
}

// attached calls each for every document in the text and the attachments of a mail.
func attached(raw []byte, each func(io.Reader) error) error {
	content := parse.Bytes(raw, parse.DefaultLimits)
	parts := []io.Reader{strings.NewReader(content.TextBody)}
	for i := range content.Attachments {
		parts = append(parts, content.Attachments[i].Open())
	}
	for _, part := range parts {
		if err := report.Unpack(part, limits, each); err != nil {
			return err
		}
	}
	return nil
}
