package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
)

const (
	// timeout limits a call. It is longer than the longest wait of a poll.
	timeout = longestWait + 15*time.Second
	// maxAnswer is the maximum number of bytes of an answer that are read.
	maxAnswer = 64 << 20
)

// client has the flags of all commands, and calls the API.
type client struct {
	BaseURL string `name:"base-url" help:"Public address of the API. Default: http://localhost:8080." default:"http://localhost:8080" placeholder:"URL"`
	APIKey  string `name:"api-key" help:"API key. Set the variable MAILHELM_API_KEY and not this flag, because other users of the machine see flags." placeholder:"KEY" secret:"whole"`
}

// call makes a call and returns the body of the answer. body is the JSON body of the request,
// nil for none. It fails with a *refusal if the server refuses the call.
func (c client) call(p *cli.Program, method, target string, body any) ([]byte, error) {
	if c.APIKey == "" {
		return nil, errors.New("no API key is given: set the variable MAILHELM_API_KEY to a key with the scopes api.inboxes.view and api.inboxes.manage")
	}
	if base, err := url.Parse(c.BaseURL); err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || strings.Trim(base.Path, "/") != "" {
		return nil, fmt.Errorf("--base-url %q must be an address without a path, such as http://localhost:8080", c.BaseURL)
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(p.Ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+target, content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.APIKey)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	// A redirect could lead the key to another host.
	web := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := web.Do(r)
	if err != nil {
		return nil, c.unanswered(p, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer ended early: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, refusalOf(p, response, answer)
	}
	return answer, nil
}

// unanswered returns the error for a call without an answer.
func (c client) unanswered(p *cli.Program, err error) error {
	if p.Ctx.Err() != nil {
		return context.Cause(p.Ctx)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which may have a query
	}
	return fmt.Errorf("the API at %s does not answer: %w", c.BaseURL, err)
}

// poll makes a poll. If the server cannot answer it now, poll repeats it after the time that
// the server asks for, unless that is after end.
func (c client) poll(p *cli.Program, target string, end time.Time) ([]byte, error) {
	for {
		answer, err := c.call(p, http.MethodGet, target, nil)
		refused, ok := errors.AsType[*refusal](err)
		if !ok || refused.after <= 0 || core.SystemClock().Add(refused.after).After(end) {
			return answer, err
		}
		select {
		case <-time.After(refused.after):
		case <-p.Ctx.Done():
			return nil, context.Cause(p.Ctx)
		}
	}
}

// arrived is what the command wait reads of an answer.
type arrived struct {
	Messages []struct {
		Extracted struct {
			Codes []string `json:"codes"`
			Links []struct {
				URL  string `json:"url"`
				Kind string `json:"kind"`
			} `json:"links"`
		} `json:"extracted"`
	} `json:"messages"`
	Cursor string `json:"cursor"`
}

// The values of the flags --print.
const (
	printJSON  = "json"
	printCode  = "code"
	printLink  = "link"
	printShell = "shell"
)

// actions are the kinds of links that a person follows to do what the message is about.
var actions = []string{"confirm", "sign_in", "reset"}

// text returns the first code or link of the oldest message that has one. It finds none for
// printJSON.
func (a arrived) text(what string) (string, bool) {
	for _, m := range a.Messages {
		if codes := m.Extracted.Codes; what == printCode && len(codes) > 0 {
			return core.OnlyVisible(codes[0]), true
		}
		for _, link := range m.Extracted.Links {
			if what == printLink && slices.Contains(actions, link.Kind) {
				return core.OnlyVisible(link.URL), true
			}
		}
	}
	return "", false
}

// readArrived reads the answer to a poll.
func readArrived(answer []byte) (arrived, error) {
	var read arrived
	if err := json.Unmarshal(answer, &read); err != nil || read.Cursor == "" {
		return arrived{}, errors.New("the answer is not that of a poll: check --base-url")
	}
	return read, nil
}

// print writes an answer to standard output, indented.
func (c client) print(p *cli.Program, answer []byte) error {
	text, err := indented(answer)
	if err == nil {
		_, err = p.Stdout.Write(text)
	}
	return err
}

// indented returns JSON on several lines, with the characters < > & instead of their escapes,
// so that the links in it can be copied.
func indented(answer []byte) ([]byte, error) {
	var lines bytes.Buffer
	if err := json.Indent(&lines, answer, "", "  "); err != nil {
		return nil, errors.New("the answer is not JSON: check --base-url")
	}
	lines.WriteByte('\n')
	return withoutHTMLEscapes(lines.Bytes()), nil
}

// htmlEscapes are the escapes of characters that are special only in HTML.
var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// withoutHTMLEscapes returns a JSON text without these escapes. Backslashes are only in strings.
func withoutHTMLEscapes(text []byte) []byte {
	plain := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := 1
		if text[0] == '\\' {
			n = 2
			if bytes.HasPrefix(text, []byte(`\u`)) {
				n = 6
			}
		}
		n = min(n, len(text))
		if character, ok := htmlEscapes[string(text[:n])]; ok {
			plain = append(plain, character)
		} else {
			plain = append(plain, text[:n]...)
		}
		text = text[n:]
	}
	return plain
}

// printAssignments writes a new inbox as assignments of shell variables. Values are quoted, so
// that a shell does not interpret them.
func printAssignments(p *cli.Program, answer []byte) error {
	var made struct {
		ID      string `json:"id"`
		Address string `json:"address"`
		PullURL string `json:"pull_url"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return errors.New("the answer is not that of a new inbox: check --base-url")
	}
	for _, one := range [][2]string{{"INBOX_ID", made.ID}, {"INBOX_ADDRESS", made.Address}, {"INBOX_PULL_URL", made.PullURL}} {
		if _, err := fmt.Fprintf(p.Stdout, "%s='%s'\n", one[0], strings.ReplaceAll(one[1], "'", `'\''`)); err != nil {
			return err
		}
	}
	return nil
}
