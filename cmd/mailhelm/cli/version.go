package cli

import (
	"fmt"
	"runtime"
)

// Version is the command that prints the version of the program.
type Version struct {
	JSON bool `help:"Print one JSON object."`
}

// Run prints the program's version. With --json it prints an object with the members
// version, commit, go and platform.
func (c *Version) Run(p *Program) error {
	b := Build()
	if c.JSON {
		return p.PrintJSON(struct {
			Version  string `json:"version"`
			Commit   string `json:"commit"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{b.Version, b.Commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(p.Stdout, "mailhelm %s, commit %s, %s %s/%s\n", b.Version, b.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
