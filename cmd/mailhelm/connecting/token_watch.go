package connecting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/privatefile"
)

// longestWait is the longest single wait for the next token. The clock is read again after
// each wait, because a timer stands still while a machine sleeps.
const longestWait = 30 * time.Second

// print gets a token by get and prints it, or writes it to the file. With --watch it repeats
// that when a fifth of the token's life is left, until the context ends or get fails.
func (c *Token) print(p *cli.Program, get func() (tokens.Token, error)) error {
	for {
		asked := c.clock()
		token, err := get()
		if err != nil {
			return err
		}
		if err := c.write(p, token); err != nil {
			return err
		}
		if !c.Watch {
			return nil
		}
		next := token.ExpiresAt.Add(-token.ExpiresAt.Sub(asked) / 5)
		for {
			left := next.Sub(c.clock())
			if left <= 0 {
				break
			}
			if err := c.wait(p.Ctx, min(left, longestWait)); err != nil {
				return err
			}
		}
	}
}

// write writes a token to the file of --out, or else to standard output.
func (c *Token) write(p *cli.Program, t tokens.Token) error {
	line := []byte(t.Access + "\n")
	if c.JSON {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(printedToken{t.Access, "Bearer", t.ExpiresAt.UTC(), t.Scope, c.Resource}); err != nil { //nolint:gosec // the command exists to print the token
			return err
		}
		line = text.Bytes()
	}
	if c.Out == "" {
		_, err := p.Stdout.Write(line)
		return err
	}
	if err := privatefile.Write(c.Out, line); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	return nil
}
