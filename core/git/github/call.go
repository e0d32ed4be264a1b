package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

// apiVersion is the version of the API that this package knows.
const apiVersion = "2022-11-28"

// The times to wait after an answer that asks for fewer requests: if it does not say how long, and at
// most.
const (
	usualPause   = time.Minute
	longestPause = time.Hour
)

// maxPausing is the number of payers whose pause is remembered.
const maxPausing = 10_000

// appPayer is the payer of requests as the app.
const appPayer = 0

// request is a request to the API.
type request struct {
	method, path string
	query        url.Values
	credential   string // a bearer token
	// payer is the installation whose number of requests GitHub counts, appPayer for the app, and
	// personPayer for a person.
	payer int64
	body  any // is sent as JSON; nil means no body
	// want is the status of an answer whose body is read into into.
	want int
	into any
}

// answer is an answer of the API.
type answer struct {
	fetch.Response
	what string // the method and the path without ids
}

// call sends a request and returns the answer with any status that says something about the request.
// It fails with a *[git.Later] if the payer has sent too many, and with another error if there is no
// answer, or one that says that the server has a problem.
func (a *client) call(ctx context.Context, r request) (answer, error) {
	what := r.method + " " + r.path
	if until, ok := a.pause(r.payer); ok {
		return answer{}, &git.Later{Until: until}
	}
	sent, err := a.newRequest(ctx, r)
	if err != nil {
		return answer{}, err
	}
	response, err := a.fetcher.Send(sent)
	if err != nil {
		return answer{}, fmt.Errorf("github: %s: %w", what, err)
	}
	got := answer{response, what}
	if until, limited := a.limit(got); limited {
		if r.payer != personPayer { // the limit of one person does not concern others
			a.pauseUntil(r.payer, until)
		}
		return answer{}, &git.Later{Until: until}
	}
	switch {
	case got.Status >= http.StatusInternalServerError, got.Status == http.StatusRequestTimeout:
		return answer{}, got.failure()
	case got.Status != r.want || r.into == nil:
		return got, nil
	case len(got.Body) >= maxAnswer:
		return answer{}, fmt.Errorf("github: %s: the answer has more than %d bytes", what, maxAnswer)
	}
	if err := json.Unmarshal(got.Body, r.into); err != nil {
		return answer{}, fmt.Errorf("github: %s: the answer has another form", what) // the cause may quote it
	}
	return got, nil
}

// newRequest returns the HTTP request.
func (a *client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		content, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(content)
	}
	address := a.api + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, errors.New("github: the address is malformed")
	}
	sent.Header.Set("Accept", "application/vnd.github+json")
	sent.Header.Set("X-GitHub-Api-Version", apiVersion)
	sent.Header.Set("Authorization", "Bearer "+r.credential)
	if body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	return sent, nil
}

// limit reports whether an answer says that there were too many requests, and until when to wait. The
// status is 403 or 429; a 403 for another reason has neither of the headers.
func (a *client) limit(got answer) (time.Time, bool) {
	if got.Status != http.StatusForbidden && got.Status != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	now := a.cfg.Clock()
	wait := usualPause
	seconds, err := strconv.Atoi(got.Header.Get("Retry-After"))
	reset, second := strconv.ParseInt(got.Header.Get("X-Ratelimit-Reset"), 10, 64)
	switch {
	case err == nil:
		wait = time.Duration(min(max(seconds, 1), int(longestPause/time.Second))) * time.Second
	case got.Header.Get("X-Ratelimit-Remaining") == "0" && second == nil:
		wait = time.Unix(reset, 0).Sub(now) + time.Second
	case got.Status == http.StatusTooManyRequests, strings.Contains(strings.ToLower(got.message()), "rate limit"):
	default:
		return time.Time{}, false
	}
	return now.Add(min(max(wait, time.Second), longestPause)), true
}

// pause returns until when a payer must wait.
func (a *client) pause(payer int64) (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until, ok := a.pausing[payer]
	if ok && !a.cfg.Clock().Before(until) {
		delete(a.pausing, payer)
		return time.Time{}, false
	}
	return until, ok
}

func (a *client) pauseUntil(payer int64, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pausing) >= maxPausing {
		clear(a.pausing) // GitHub answers again that there were too many
	}
	a.pausing[payer] = until
}

// message returns the message of an answer, for people.
func (got answer) message() string {
	var body struct {
		Message string `json:"message"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(got.Body, &body) != nil || body.Message == "" {
		return "status " + strconv.Itoa(got.Status)
	}
	text := body.Message
	if len(body.Errors) > 0 && body.Errors[0].Message != "" {
		text += ": " + body.Errors[0].Message
	}
	const longest = 200
	return core.Quotable(text, longest)
}

// failure returns the error for an answer that may be another one later.
func (got answer) failure() error {
	return fmt.Errorf("github: %s: status %d", got.what, got.Status)
}

// repositoryPath returns the path of the API of a repository, "/repos/owner/name".
func repositoryPath(location string) (string, error) {
	owner, name, ok := strings.Cut(location, "/")
	if !ok || !isName(owner) || !isName(name) {
		return "", git.Refuse("%s is not the name of a repository on GitHub. Connect the repository again.", core.Quote(location))
	}
	return "/repos/" + owner + "/" + name, nil
}

// isName reports whether a text may be the name of an account or of a repository: letters, digits,
// ".", "_" and "-", but not only points.
func isName(text string) bool {
	const longest = 100
	if text == "" || len(text) > longest || strings.Trim(text, ".") == "" {
		return false
	}
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c) {
			return false
		}
	}
	return true
}

// onRepository sends a request with the token of the repository of a connection. If GitHub does not
// take the token, it asks for another one once.
func (a *client) onRepository(ctx context.Context, c git.Connection, r request) (answer, error) {
	base, err := repositoryPath(c.Location)
	if err != nil {
		return answer{}, err
	}
	r.path, r.payer = base+r.path, c.Installation
	for again := false; ; again = true {
		if r.credential, err = a.tokenFor(ctx, c); err != nil {
			return answer{}, err
		}
		got, err := a.call(ctx, r)
		if err != nil || got.Status != http.StatusUnauthorized || again {
			return got, err
		}
		a.forget(c)
	}
}

// refusal says why GitHub has refused a request for a repository.
func (got answer) refusal(c git.Connection) error {
	switch got.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return git.Refuse("The repository %s has another name now. Connect it again.", core.Quote(c.Location))
	case http.StatusNotFound:
		return git.Refuse("The repository %s does not exist, or the app may not use it. Change the installation on GitHub, or connect another repository.", core.Quote(c.Location))
	case http.StatusForbidden:
		return git.Refuse("GitHub does not permit this in the repository %s: %s. Check the permissions of the app.", core.Quote(c.Location), got.message())
	case http.StatusUnauthorized, http.StatusUnavailableForLegalReasons, http.StatusConflict, http.StatusUnprocessableEntity:
		return git.Refuse("GitHub refuses this for the repository %s: %s.", core.Quote(c.Location), got.message())
	default:
		return got.failure()
	}
}
