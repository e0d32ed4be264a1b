package main

import (
	"fmt"
	"runtime"
)

type versionCommand struct {
	JSON bool `help:"Print one JSON object."`
}

// Run prints which program this is.
func (c *versionCommand) Run(p *program) error {
	b := build()
	if c.JSON {
		return p.printJSON(struct {
			Version  string `json:"version"`
			Commit   string `json:"commit"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{b.Version, b.Commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(p.stdout, "mailhelm %s, commit %s, %s %s/%s\n", b.Version, b.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
