package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
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
func (c client) call(ctx context.Context, method, target string, body any) ([]byte, error) {
	if c.APIKey == "" {
		return nil, errors.New("no API key is given: set the variable MAILHELM_API_KEY to a key with the scopes api.inboxes.view and api.inboxes.manage")
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+target, content)
	if err != nil {
		return nil, fmt.Errorf("--base-url: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.APIKey)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	// A redirect could lead the key to another host.
	web := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := web.Do(r)
	if err != nil {
		return nil, fmt.Errorf("the API does not answer: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer ended early: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, refusalOf(response, answer)
	}
	return answer, nil
}

// refusal is the error of a call that the server refused.
type refusal struct {
	text  string
	after time.Duration // the time until a retry, 0 if none helps
}

// Error returns what the server said.
func (r *refusal) Error() string { return r.text }

// refusalOf returns the error in a problem document. Its text has no control characters,
// because another program may have answered.
func refusalOf(response *http.Response, answer []byte) error {
	var problem struct {
		Detail   string `json:"detail"`
		NextStep string `json:"next_step"`
	}
	text := response.Status
	if json.Unmarshal(answer, &problem) == nil && problem.Detail != "" {
		text = strings.TrimSpace(problem.Detail + " " + problem.NextStep)
	}
	refused := &refusal{text: strings.ReplaceAll(core.OnlyVisible(text), "`", "")}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refused.after = time.Duration(seconds) * time.Second
	}
	return refused
}

// poll makes a poll. If the server cannot answer it now, poll repeats it after the time that
// the server asks for, unless that is after end.
func (c client) poll(ctx context.Context, target string, end time.Time) ([]byte, error) {
	for {
		answer, err := c.call(ctx, http.MethodGet, target, nil)
		refused, ok := errors.AsType[*refusal](err)
		if !ok || refused.after <= 0 || core.SystemClock().Add(refused.after).After(end) {
			return answer, err
		}
		select {
		case <-time.After(refused.after):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
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

// indented returns JSON on several lines.
func indented(answer []byte) ([]byte, error) {
	var lines bytes.Buffer
	if err := json.Indent(&lines, answer, "", "  "); err != nil {
		return nil, errors.New("the answer is not JSON: check --base-url")
	}
	lines.WriteByte('\n')
	return lines.Bytes(), nil
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
