package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// recording has the statements of one call of an operation.
type recording struct {
	Operation string
	// Database is the name of the file with the database before the call.
	Database string
	// Statements are in the order of their execution.
	Statements []string
	// Writes is true if one of them changes the database.
	Writes bool
}

// read returns the recordings of a folder that have statements.
func read(folder string) ([]recording, error) {
	text, err := os.ReadFile(filepath.Join(folder, "statements.json"))
	if err != nil {
		return nil, err
	}
	var all, some []recording
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("statements.json: %w", err)
	}
	for _, r := range all {
		if len(r.Statements) > 0 {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("%s has no statements", folder)
	}
	return some, nil
}
