package git

import (
	"crypto/x509"
	"encoding/pem"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

// appOn returns the settings of the app of a stand-in of GitHub.
func appOn(s *githubtest.Server) config.GitHub {
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(githubtest.Key())})
	return config.GitHub{URL: s.URL, App: githubtest.AppID, Key: string(key)}
}

// onGitHub connects a repository on GitHub, and checks the addresses of the workflow's file: with the commit
// in which its content or its path changed.
func (j *journey) onGitHub() {
	j.Helper()
	files := map[string]string{
		"mail/mailhelm.json":              `{"workflows": {"trial": {"path": "workflows/trial.flow"}}}`,
		"mail/workflows/trial.flow":       strings.Replace(flow, "1 day", "3 days", 1),
		"mail/workflows/moved.flow":       strings.Replace(flow, "1 day", "3 days", 1),
		"mail/workflows/after it #1.flow": strings.Replace(flow, "1 day", "4 days", 1),
	}
	j.fileAt("", "", "")
	commits := []string{j.remote.Commit(files)}
	if _, err := j.p.Repository.Settings.Connect(j.Context(), git.Connection{OrgID: j.org.OrgID, Kind: git.GitHub, Location: githubtest.Name, PathPrefix: "mail", Installation: githubtest.Installation}); err != nil {
		j.Fatal(err)
	}
	j.syncedAt(commits[0])
	j.fileAt(commits[0], "workflows/trial.flow", "workflows/trial.flow")
	next := func(manifest string) string {
		j.Helper()
		files["mail/mailhelm.json"] = manifest
		commit := j.remote.Commit(files)
		if err := j.p.Repository.Settings.RequestSync(j.Context(), j.org.OrgID); err != nil {
			j.Fatal(err)
		}
		j.syncedAt(commit)
		return commit
	}
	next(`{"lists": {"more": {}}, "workflows": {"trial": {"path": "workflows/trial.flow"}}}`)
	j.fileAt(commits[0], "workflows/trial.flow", "workflows/trial.flow")
	moved := next(`{"lists": {"more": {}}, "workflows": {"trial": {"path": "workflows/moved.flow"}}}`)
	j.fileAt(moved, "workflows/moved.flow", "workflows/moved.flow")
	changed := next(`{"lists": {"more": {}}, "workflows": {"trial": {"path": "workflows/after it #1.flow"}}}`)
	j.fileAt(changed, "workflows/after it #1.flow", "workflows/after%20it%20%231.flow")
}

// fileAt checks where the API says that the file of the workflow is: at a commit, "" for nowhere.
func (j *journey) fileAt(commit, path, escaped string) {
	j.Helper()
	w, err := j.p.Workflows.Store.Workflow(j.Context(), j.org.OrgID, trial.Key)
	if err != nil {
		j.Fatal(err)
	}
	var wantPath, wantURL any
	if commit != "" {
		wantPath, wantURL = path, j.remote.URL+"/"+githubtest.Name+"/blob/"+commit+"/mail/"+escaped
	}
	got := j.get("/v1/workflows/" + w.ID)
	if got["source_path"] != wantPath || got["source_url"] != wantURL {
		j.Errorf("the file is %v at %v, want %v at %v", got["source_path"], got["source_url"], wantPath, wantURL)
	}
}
