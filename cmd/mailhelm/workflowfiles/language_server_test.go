package workflowfiles_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// messages returns messages as an editor writes them.
func messages(all ...string) string {
	var b strings.Builder
	for _, message := range all {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(message), message)
	}
	return b.String()
}

func TestLanguageServer(t *testing.T) {
	t.Parallel()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	session := messages(initialize,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","version":1,"text":"workflow"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`)
	r := run(t, session, "language-server")
	if r.status != cli.ExitOK || r.stderr != "" {
		t.Errorf("got %+v", r)
	}
	for _, want := range []string{`"name":"mailhelm"`, `the workflow ends too early; expected the \"name\" of the workflow`, `"id":2,"result":null`} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the server does not write %s: %s", want, r.stdout)
		}
	}
	if r := run(t, messages(initialize), "language-server"); r.status != cli.ExitFailure || !strings.Contains(r.stderr, "without a shutdown") {
		t.Errorf("without a shutdown: %+v", r)
	}
	if r := run(t, "", "language-server", "--textmate"); r.status != cli.ExitOK || !strings.Contains(r.stdout, "source.mailhelm-workflow") {
		t.Errorf("--textmate gives %+v", r)
	}
}
