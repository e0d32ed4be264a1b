package dashboard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

// The secrets of TestGitHubApp, which no log may have.
const (
	webhookSecret = "secret-of-the-webhook"
	personCode    = "code-of-a-person"
)

// appJourney is a repository at a stand-in of GitHub, and the server with the app.
type appJourney struct {
	*browser
	github    *githubtest.Server
	delivered int
}

// TestGitHubApp starts a server with an app on GitHub. A person connects a repository on the dashboard, a
// push is read, an agent proposes a workflow, and people merge the pull request.
func TestGitHubApp(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	t.Cleanup(func() { // after the product has stopped
		for _, secret := range []string{githubtest.ClientSecret, webhookSecret, personCode, "ghs_", "PRIVATE KEY"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log has %q", secret)
			}
		}
	})
	stand := githubtest.New(t, time.Now)
	p := product.Start(t, product.Options{Log: &log, GitHub: config.GitHub{
		URL: stand.URL, App: githubtest.AppID, Key: githubtest.PEM(), ClientSecret: githubtest.ClientSecret, WebhookSecret: webhookSecret,
	}})
	j := &appJourney{browser: owner(t, p), github: stand}
	commit := j.commit("attr.age >= 18")
	j.connect()
	j.awaitSync(commit)
	j.hasSegment("attr.age >= 18")
	j.push()
	j.propose()
}

// commit commits a segment below the folder mail, and the attribute that it tests. It returns the id of
// the commit.
func (j *appJourney) commit(predicate string) string {
	return j.github.Commit(map[string]string{
		"mail/mailhelm.json":             `{"attributes": "attributes.json", "segments": {"grown-ups": {"path": "grown-ups.predicate", "name": "Grown-ups"}}}`,
		"mail/attributes.json":           `{"type": "object", "properties": {"age": {"type": "number"}}}`,
		"mail/grown-ups.predicate":       predicate,
		"mail/workflows/unnamed.example": "is not read",
	})
}

var authorizeLink = regexp.MustCompile(`href="([^"]+/login/oauth/authorize[^"]*)"`)

// connect connects the repository as a person does, with the answer that GitHub sends by the browser.
func (j *appJourney) connect() {
	j.t.Helper()
	const path = "/dashboard/git/github"
	j.wants(j.open("/dashboard/git"), `href="`+path+`"`)
	link := authorizeLink.FindStringSubmatch(j.open(path))
	if link == nil {
		j.t.Fatal("the page has no link to GitHub")
	}
	authorize, err := url.Parse(html.UnescapeString(link[1]))
	if err != nil {
		j.t.Fatal(err)
	}
	query := authorize.Query()
	if query.Get("client_id") != githubtest.ClientID || query.Get("redirect_uri") != j.p.AppURL+path || query.Get("state") == "" {
		j.t.Errorf("the link to GitHub is %s", authorize)
	}
	j.github.Person(personCode, githubtest.Name, "read:acme/read-only")
	if status, _, page := j.send(path+"?"+url.Values{"code": {personCode}, "state": {"9999999999.forged"}}.Encode(), nil); status != http.StatusForbidden || strings.Contains(page, githubtest.Name) {
		j.t.Errorf("a forged state: %d %s", status, page)
	}
	choice := j.open(path + "?" + url.Values{"code": {personCode}, "state": {query.Get("state")}}.Encode())
	if strings.Contains(choice, "read-only") {
		j.t.Errorf("a repository to which the person may not write is offered: %s", choice)
	}
	j.wants(j.submit(choice, path, func(form url.Values) { form.Set("path_prefix", "mail") }), "The repository is connected", githubtest.Name)
}

// awaitSync waits until a commit is applied, and the result of the sync is stored. Until then, the
// repository has commits that are not applied, so no change can be proposed.
func (j *appJourney) awaitSync(commit string) {
	j.t.Helper()
	product.Await(j.t, time.Minute, func() error {
		c, _, err := j.p.Repository.Settings.Of(j.t.Context(), j.p.OrgID)
		if err == nil && (c.State != git.Synced || c.Revision.Commit != commit) {
			err = fmt.Errorf("%s at %s, want %s: %s", c.State, c.Revision.Commit, commit, c.Failure)
		}
		return err
	})
}

// hasSegment checks the predicate of the segment of the repository.
func (j *appJourney) hasSegment(predicate string) {
	j.t.Helper()
	a := j.p.Send(j.t, product.Request{URL: j.p.BaseURL + "/v1/segments/grown-ups", Bearer: j.p.Live.APIKey})
	var got struct{ Source, Origin, Status string }
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.Source != predicate || got.Origin != "git" || got.Status != "active" {
		j.t.Errorf("the segment: %d %s: %v", a.Status, a.Body, err)
	}
}

// deliver sends a webhook, as GitHub does. more has members of its body.
func (j *appJourney) deliver(event, more, secret string) int {
	j.t.Helper()
	j.delivered++
	body := fmt.Sprintf(`{%s, "repository": {"full_name": "Acme/Definitions", "default_branch": "main"}, "installation": {"id": %d}}`, more, githubtest.Installation)
	return j.p.Send(j.t, product.Request{Method: http.MethodPost, URL: j.p.BaseURL + "/github/webhook", Body: body, Header: product.HeaderOf(
		"X-GitHub-Event", event, "X-GitHub-Delivery", fmt.Sprint(j.delivered), "X-Hub-Signature-256", githubtest.Sign(secret, body),
	)}).Status
}

// push pushes a commit, which is read when GitHub reports it. A report with another signature is refused.
func (j *appJourney) push() {
	j.t.Helper()
	const push = `"ref": "refs/heads/main"`
	if status := j.deliver("push", push, "another secret"); status != http.StatusUnauthorized {
		j.t.Errorf("another signature: %d", status)
	}
	commit := j.commit("attr.age >= 21")
	if status := j.deliver("push", push, webhookSecret); status != http.StatusAccepted {
		j.t.Fatalf("a push: %d", status)
	}
	j.awaitSync(commit)
	j.hasSegment("attr.age >= 21")
}

// propose lets an agent save a workflow, which opens a pull request. The page shows it until it is merged
// and read.
func (j *appJourney) propose() {
	j.t.Helper()
	token := j.p.Token(j.t, j.p.MCPURL, product.ToolScopes().Strings()...)
	a := j.p.Send(j.t, j.p.ToAgent(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflows_author","arguments":{"key":"trial","source":"workflow \"Trial\" v1 {\n  enter on segment \"grown-ups\"\n  wait 1 day\n}\n"}}}`))
	var got struct {
		Result struct {
			StructuredContent struct {
				Status string `json:"status"`
				URL    string `json:"pull_request_url"`
				Branch string `json:"pull_request_branch"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	err := json.Unmarshal([]byte(a.Body), &got)
	opened, address := got.Result.StructuredContent, j.github.URL+"/acme/definitions/pull/1"
	if err != nil || opened.Status != "pull_request_open" || opened.URL != address || !strings.HasPrefix(opened.Branch, "mailhelm/workflows_author-") {
		j.t.Fatalf("proposed: %d %s", a.Status, a.Body)
	}
	j.wants(j.open("/dashboard/git"), `href="`+address+`"`, opened.Branch, "awaits review")
	if _, ok := j.github.File(opened.Branch, "mail/workflows/trial.flow"); !ok {
		j.t.Error("the branch does not have the workflow")
	}
	merge := j.github.Decide(opened.Branch, true)
	if status := j.deliver("pull_request", `"action": "closed", "pull_request": {"head": {"ref": "`+opened.Branch+`"}}`, webhookSecret); status != http.StatusAccepted {
		j.t.Fatalf("a merge: %d", status)
	}
	j.awaitSync(merge)
	all, err := j.p.Repository.Settings.Store.Proposals(j.t.Context(), j.p.OrgID, 9)
	if err != nil || len(all) != 1 || all[0].State != git.Merged {
		j.t.Errorf("proposals %+v: %v", all, err)
	}
	workflow, err := j.p.Workflows.Store.Workflow(j.t.Context(), j.p.OrgID, "trial")
	if err != nil || workflow.Origin != "git" {
		j.t.Errorf("the merged workflow: %+v: %v", workflow, err)
	}
	j.wants(j.open("/dashboard/git"), `href="`+address+`"`, "merged", "synced")
}
