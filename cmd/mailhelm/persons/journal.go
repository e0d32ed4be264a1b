package persons

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core/privacy"
)

// JournalName is the name of the journal in the data folder.
const JournalName = "erased-addresses.jsonl"

// Journal is a [privacy.Journal] in a file. Each line is a JSON object.
type Journal struct {
	path string
	mu   *sync.Mutex
}

// NewJournal returns the journal in a data folder. The file is created with the first entry.
func NewJournal(folder string) Journal {
	return Journal{filepath.Join(folder, JournalName), &sync.Mutex{}}
}

// entryJSON is the form of a line.
type entryJSON struct {
	OrgID    string          `json:"org_id"`
	Hash     string          `json:"hash"`
	Refuses  privacy.Refusal `json:"refuses"`
	ErasedAt time.Time       `json:"erased_at"`
	Allowed  bool            `json:"allowed,omitempty"`
}

// Append implements [privacy.Journal].
func (j Journal) Append(e privacy.Entry) error {
	line, err := json.Marshal(entryJSON{e.OrgID, hex.EncodeToString(e.Hash), e.Refuses, e.ErasedAt, e.Allowed})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("journal of erased addresses: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// ReadJournal reads the entries of a journal. A file that does not exist has none, unless it must
// exist.
func ReadJournal(path string, must bool) ([]privacy.Entry, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return readEntries(path, file)
}

func readEntries(path string, from io.Reader) ([]privacy.Entry, error) {
	var all []privacy.Entry
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		var e entryJSON
		err := json.Unmarshal(lines.Bytes(), &e)
		hash, invalid := hex.DecodeString(e.Hash)
		if err = errors.Join(err, invalid); err != nil || e.OrgID == "" || len(hash) == 0 {
			return nil, fmt.Errorf("%s:%d: not a line of this journal: restore the file from a copy", path, n)
		}
		all = append(all, privacy.Entry{OrgID: e.OrgID, Allowed: e.Allowed, Tombstone: privacy.Tombstone{Hash: hash, Refuses: e.Refuses, ErasedAt: e.ErasedAt}})
	}
	return all, lines.Err()
}
