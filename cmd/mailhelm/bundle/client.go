package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

const (
	// timeout limits a call. Applying a bundle of two thousand files takes minutes.
	timeout = 10 * time.Minute
	// maxAnswer is the maximum number of bytes of an answer. The archive of an export has all files
	// and their names.
	maxAnswer = archive.MaxContent + 8<<20
	zipType   = "application/zip"
	// omittedHeader has the sections that an export leaves out.
	omittedHeader = "X-Service-Omitted"
)

// server has the flags of the commands that call the API.
type server struct {
	Server string `help:"Public address of the API. Default: ${default}." default:"http://localhost:8080" placeholder:"URL"`
	APIKey string `name:"api-key" help:"API key. Set the variable MAILHELM_API_KEY and not this flag, because other users of the machine see flags." placeholder:"KEY" secret:"whole"`
}

// imported is the answer to an import.
type imported struct {
	DryRun       bool          `json:"dry_run"`
	Plan         plan.Plan     `json:"plan"`
	Applied      bool          `json:"applied"`
	Objects      []plan.Object `json:"objects"`
	AppliedUntil string        `json:"applied_until"`
	Error        string        `json:"error"`
}

// post imports a bundle. It returns the answer as it is, too.
func (s server) post(p *cli.Program, tree archive.Tree, dryRun, prune bool) (*imported, []byte, error) {
	var packed bytes.Buffer
	if err := archive.WriteZip(&packed, named(tree)); err != nil {
		return nil, nil, err
	}
	if packed.Len() > archive.MaxPacked {
		return nil, nil, fmt.Errorf("the folder has %d bytes after compression; at most %d are allowed: move out what the manifest does not name", packed.Len(), archive.MaxPacked)
	}
	query := url.Values{"dry_run": {fmt.Sprint(dryRun)}, "prune": {fmt.Sprint(prune)}}
	answer, _, err := s.call(p, http.MethodPost, "/v1/import?"+query.Encode(), "application/json", packed.Bytes())
	if err != nil {
		return nil, nil, err
	}
	var read imported
	if err := json.Unmarshal(answer, &read); err != nil || read.Plan.Totals == nil {
		return nil, nil, errors.New("the answer is not that of an import: check --server")
	}
	return &read, answer, nil
}

// named returns the files of a bundle without those that the manifest does not name, such as a README.md,
// of which the server would warn. Files that look like sources stay, because they were probably meant to
// be named.
func named(tree archive.Tree) archive.Tree {
	left := maps.Clone(tree)
	for _, path := range manifest.Read(tree).Unused {
		if !isSource(path) {
			delete(left, path)
		}
	}
	return left
}

// export returns the definitions of the organization, and the sections that the key may not read.
func (s server) export(p *cli.Program) (archive.Tree, string, error) {
	answer, header, err := s.call(p, http.MethodGet, "/v1/export", zipType, nil)
	if err != nil {
		return nil, "", err
	}
	if header.Get("Content-Type") != zipType {
		return nil, "", errors.New("the answer is not that of an export: check --server")
	}
	tree, err := archive.ReadZip(answer)
	return tree, core.OnlyVisible(header.Get(omittedHeader)), p.Explain(err)
}

// call makes a call and returns the body of the answer. packed is the zip archive that is sent, nil for
// none.
func (s server) call(p *cli.Program, method, target, accept string, packed []byte) ([]byte, http.Header, error) {
	if s.APIKey == "" {
		return nil, nil, errors.New("no API key is given: set the variable MAILHELM_API_KEY to a key with the scopes of the sections of the bundle")
	}
	if base, err := url.Parse(s.Server); err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || strings.Trim(base.Path, "/") != "" {
		return nil, nil, fmt.Errorf("--server %q must be an address without a path, such as https://api.example.com", s.Server)
	}
	ctx, cancel := context.WithTimeout(p.Ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.Server, "/")+target, bytes.NewReader(packed))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.APIKey)
	r.Header.Set("Accept", accept)
	if packed != nil {
		r.Header.Set("Content-Type", zipType)
	}
	progress := cli.NewProgress(p.Stderr, 0, core.SystemClock)
	progress.Show(int64(len(packed)), "bytes sent, waiting for "+s.Server)
	defer progress.End()
	// A redirect could lead the key to another host.
	web := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := web.Do(r)
	if err != nil {
		return nil, nil, s.unanswered(p, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("the answer ended early: %w", err)
	case len(answer) > maxAnswer:
		return nil, nil, fmt.Errorf("the answer of %s has more than %d bytes: check --server", s.Server, maxAnswer)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, nil, refusal(response, answer)
	}
	return answer, response.Header, nil
}

// unanswered returns the error for a call without an answer.
func (s server) unanswered(p *cli.Program, err error) error {
	if p.Ctx.Err() != nil {
		return context.Cause(p.Ctx)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which the message has
	}
	return fmt.Errorf("the API at %s does not answer: %w", s.Server, err)
}

// refusal returns the error of a refused call. Its text has no control characters, because another
// program may have answered.
func refusal(response *http.Response, answer []byte) error {
	var document core.Problem
	if json.Unmarshal(answer, &document) != nil || document.Detail == "" {
		document = core.Problem{Detail: response.Status + ": this is not the API; check --server"}
	}
	text := document.Detail
	switch {
	case document.Code == core.CodeInvalidKey:
		text = "The server does not accept the API key. Check MAILHELM_API_KEY and --server."
	case document.Code == core.CodeNotFound:
		text += " Check --server."
	case document.NextStep != "":
		text += " " + document.NextStep
	}
	if after := response.Header.Get("Retry-After"); after != "" {
		text += " Retry-After is " + after + " seconds."
	}
	return errors.New(strings.ReplaceAll(core.OnlyVisible(text), "`", ""))
}
