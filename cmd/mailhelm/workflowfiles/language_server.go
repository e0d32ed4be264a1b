package workflowfiles

import (
	"io"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/editors"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/languageserver"
)

// LanguageServer is `mailhelm language-server`.
type LanguageServer struct {
	organization
	TextMate bool `name:"textmate" help:"Print the TextMate grammar of workflow files, for the colours in an editor, and end." once:""`
}

// Help returns the text that --help shows below the summary.
func (LanguageServer) Help() string {
	return `Serves an editor with the Language Server Protocol on standard input and output: faults and warnings while one types, the meaning of the word under the pointer, completion, and formatting. Editors start this command themselves, for files *.workflow. The guide "Write workflows in files" has their settings.

Without a key, names are not checked. With --key, the server completes and checks the attributes, topics, lists, segments and templates of the organization, at most a minute old.

Examples:

    mailhelm language-server
    mailhelm language-server --textmate > workflow.tmLanguage.json
    MAILHELM_KEY=sk_live_... mailhelm language-server --server https://api.example.com`
}

// Run serves the editor until it ends the session.
func (c *LanguageServer) Run(p *cli.Program) error {
	if c.TextMate {
		_, err := io.WriteString(p.Stdout, editors.TextMate)
		return err
	}
	cfg := languageserver.Config{Version: cli.Build().Version}
	client, err := c.client()
	if err != nil {
		return err
	}
	if client != nil {
		cfg.Names = client.Names
	}
	return languageserver.Serve(p.Ctx, standardStreams{p.Stdin, p.Stdout}, cfg)
}

// standardStreams is standard input and output as one stream.
type standardStreams struct {
	io.Reader
	io.Writer
}

// Close closes nothing: the process ends after the session.
func (standardStreams) Close() error { return nil }
