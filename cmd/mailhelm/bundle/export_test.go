package bundle_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
)

// exports serves an export of a set without the omitted sections.
func exports(t *testing.T, set *definitions.Set, omitted string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+r.URL.String() != "GET/v1/export" || r.Header.Get("Accept") != "application/zip" || r.Header.Get("Authorization") != "Bearer sk_live_x" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/zip")
		if omitted != "" {
			w.Header().Set("X-Service-Omitted", omitted)
		}
		if err := archive.WriteZip(w, manifest.Write(set)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// exported has definitions of the kinds that it declares.
func exported() *definitions.Set {
	s := &definitions.Set{
		Declared:  map[definitions.Kind]bool{},
		Lists:     []definitions.List{{Key: "news", Name: "News"}},
		Templates: []definitions.Template{{Key: "welcome", Subject: "Hello", HTML: "<p>\nHello\n</p>\n"}},
		Images:    []definitions.Image{{Path: "static/a.png", Content: []byte("\x89PNG\xff")}},
	}
	for _, kind := range []definitions.Kind{definitions.KindList, definitions.KindTemplate, definitions.KindImage} {
		s.Declared[kind] = true
	}
	return s
}

func TestExport(t *testing.T) {
	t.Parallel()
	api, folder := exports(t, exported(), "segments, workflows"), filepath.Join(t.TempDir(), "a", "b")
	run(t, api, "export", folder).expect(t, cli.ExitOK, folder+": 3 files created, 0 replaced, 0 unchanged\n", "lacks their view scopes: segments, workflows\n")
	run(t, api, "export", folder).expect(t, cli.ExitOK, "0 files created, 0 replaced, 3 unchanged\n")
	run(t, api, "validate", folder).expect(t, cli.ExitOK, "valid, 3 definitions")

	write(t, folder, "templates/welcome.hbs", "mine")
	write(t, folder, "notes.txt", "kept")
	write(t, folder, "static/a.png", "")
	run(t, api, "export", folder).expect(t, cli.ExitFailure, `nothing was written, because "templates/welcome.hbs" has another content`, "--force")
	if _, err := os.Stat(filepath.Join(folder, "static/a.png")); err == nil || read(t, folder, "templates/welcome.hbs") != "mine" {
		t.Error("a refused export writes")
	}
	run(t, api, "export", folder, "--force", "--json").expect(t, cli.ExitOK, `"static/a.png"`, `"templates/welcome.hbs"`, `"unchanged": 1`, `"segments"`)
	if read(t, folder, "templates/welcome.hbs") != "<p>\nHello\n</p>\n" || read(t, folder, "notes.txt") != "kept" {
		t.Error("an export with --force")
	}
	all, err := filepath.Glob(filepath.Join(folder, "*", ".*"))
	if err != nil || len(all) > 0 {
		t.Errorf("left: %v, %v", all, err)
	}

	// A link to a folder outside does not lead the export there.
	outside := t.TempDir()
	linked := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(linked, "templates")); err != nil {
		t.Fatal(err)
	}
	run(t, api, "export", linked, "--force").expect(t, cli.ExitFailure)
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v, %v", entries, err)
	}
	run(t, serve(t, `{"code":"invalid_scope","detail":"No scope.","next_step":"Add one."}`).URL, "diff", folder, "--server", exports(t, exported(), "")).expect(t, cli.ExitOK)
}

// TestLargeExport writes an export that is larger than an import may be, because images came one bundle
// at a time.
func TestLargeExport(t *testing.T) {
	t.Parallel()
	set := &definitions.Set{Declared: map[definitions.Kind]bool{definitions.KindImage: true}}
	content := make([]byte, archive.MaxFile)
	random := rand.NewChaCha8([32]byte{1})
	for i := range archive.MaxPacked/archive.MaxFile + 1 {
		_, _ = random.Read(content) // never fails
		set.Images = append(set.Images, definitions.Image{Path: fmt.Sprintf("static/%d.png", i), Content: slices.Clone(content)})
	}
	folder := t.TempDir()
	run(t, exports(t, set, ""), "export", folder).expect(t, cli.ExitOK, "6 files created")
	if got := read(t, folder, "static/4.png"); got != string(set.Images[4].Content) {
		t.Errorf("the last image has %d bytes", len(got))
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	api, folder := exports(t, exported(), ""), filepath.Join(t.TempDir(), "definitions")
	run(t, api, "export", folder).expect(t, cli.ExitOK)
	write(t, folder, "README.md", "not named")
	if got := run(t, api, "diff", folder); got.status != cli.ExitOK || got.out+got.errs != "" {
		t.Fatalf("%+v", got)
	}

	// Names of files and the order of members make no difference.
	write(t, folder, "mailhelm.json", `{"templates": {"welcome": {"subject": "Hello", "path": "mails/w.html"}}, "lists": {"news": {"name": "News"}}}`)
	write(t, folder, "mails/w.html", "<p>\nHello\n</p>\n")
	if got := run(t, api, "diff", folder); got.status != cli.ExitOK || got.out+got.errs != "" {
		t.Fatalf("%+v", got)
	}

	write(t, folder, "mails/w.html", "<p>\nHi \x1b[31mthere\n</p>\n")
	got := run(t, api, "diff", folder)
	got.expect(t, cli.ExitChanges, "--- a/templates/welcome.hbs\n+++ b/templates/welcome.hbs\n@@ -1,3 +1,3 @@\n <p>\n-Hi [31mthere\n+Hello\n </p>\n")
	if strings.Contains(got.out, "\x1b") {
		t.Errorf("%q", got.out)
	}

	write(t, folder, "mails/w.html", "broken {{")
	run(t, api, "diff", folder).expect(t, cli.ExitChanges, "-broken {{")
	write(t, folder, "mailhelm.json", `{"templates": {"welcome": {"path": "none.html"}}}`)
	run(t, api, "diff", folder).expect(t, cli.ExitFailure, "mailhelm bundle validate "+folder)
	write(t, folder, "mailhelm.json", `{"segments": {}}`)
	run(t, exports(t, exported(), "segments"), "diff", folder).expect(t, cli.ExitFailure, `may not read the section "segments"`)
}

// TestPatchesApply gives the differences to git, which must make the files of the organization of those
// of the folder.
func TestPatchesApply(t *testing.T) {
	t.Parallel()
	theirs := exported()
	theirs.Images = nil
	theirs.Declared = map[definitions.Kind]bool{definitions.KindList: true, definitions.KindTemplate: true}
	theirs.Templates = append(theirs.Templates, definitions.Template{Key: "added", Subject: "s", HTML: "no end of line"}, definitions.Template{Key: "ended", Subject: "s", HTML: "x"})
	ours := exported()
	ours.Declared = theirs.Declared
	ours.Templates = []definitions.Template{
		{Key: "ended", Subject: "s", HTML: "x\n"},
		{Key: "removed", Subject: "s", HTML: "a\nb\n"},
		{Key: "welcome", Subject: "Hello", HTML: strings.Repeat("<p>\n", 20) + "x\n"},
	}
	theirs.Sort()
	folder := filepath.Join(t.TempDir(), "definitions")
	run(t, exports(t, ours, ""), "export", folder).expect(t, cli.ExitOK)
	got := run(t, exports(t, theirs, ""), "diff", folder)
	got.expect(t, cli.ExitChanges)
	cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(got.out)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES=/", "GIT_DIR=" + filepath.Join(folder, ".none")}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s\n%s", err, complaints.String(), got.out)
	}
	for name, content := range manifest.Write(theirs) {
		if read(t, folder, name) != string(content) {
			t.Errorf("%s: %q, want %q\n%s", name, read(t, folder, name), content, got.out)
		}
	}
}
