package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/privatefile"
)

// publishedFile is the file in the data folder with the public addresses of the server that
// started there last.
const publishedFile = "addresses.json"

// Publish stores the public addresses of a server in its data folder. Commands of the
// operator read them with [Config.Published], so that the links they print lead to the
// server, whatever flags it was started with.
func (c Config) Publish(public Public) error {
	text, err := json.MarshalIndent(public, "", "  ")
	if err != nil {
		return err
	}
	// A command may read the file at the same time.
	if err := privatefile.Write(filepath.Join(c.DataDir, publishedFile), append(text, '\n')); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

// Published returns the public addresses of the server that started last with this data
// folder. All are "" if none has started there, or if the file is invalid.
func (c Config) Published() Public {
	text, err := os.ReadFile(filepath.Join(c.DataDir, publishedFile))
	if err != nil {
		return Public{}
	}
	var public Public
	if json.Unmarshal(text, &public) != nil || public.Check() != nil {
		return Public{}
	}
	return public
}
