package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/gittest"
)

// fences finds the commands of the guide.
var fences = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestGuide runs the commands of the guide in a shell, and connects the repository that they make.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../rest/docs/guides/git.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := fences.FindAllSubmatch(guide, -1)
	if len(commands) != 2 {
		t.Fatalf("the guide has %d blocks of commands, want 2", len(commands))
	}
	folder := t.TempDir()
	script := "set -eu\n" + string(commands[0][1]) + string(commands[1][1])
	shell := exec.CommandContext(t.Context(), "sh", "-c", script)
	shell.Dir = folder
	shell.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := product.Start(t, product.Options{GitFolder: folder})
	repo := &gittest.Repository{Bare: filepath.Join(folder, "definitions.git"), T: t}
	j := &journey{T: t, p: p, org: p.Other, repo: repo}
	if _, err := p.Repository.Settings.Connect(t.Context(), git.Connection{OrgID: j.org.OrgID, Kind: git.Local, Location: repo.Bare}); err != nil {
		t.Fatal(err)
	}
	j.synced()
	if len(j.last.Diagnostics) != 0 {
		t.Errorf("findings %+v", j.last.Diagnostics)
	}
	if got := j.get("/v1/segments/adults"); got["status"] != "active" || got["origin"] != "git" {
		t.Errorf("the segment: %v", got)
	}
}
