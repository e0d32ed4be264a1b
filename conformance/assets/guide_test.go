package assets

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// shellBlock matches a block of commands in a guide.
var shellBlock = regexp.MustCompile("(?s)```shell\n(.*?)```")

// runGuide runs the commands of the guide about images in another organization, with an image of the
// demo. It must end with a list that has the image with its address.
func runGuide(t *testing.T, p *product.Product) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		enginetest.SkipMissing(t, "bash is not on this machine: the commands of the guide cannot run")
	}
	logo, err := os.ReadFile("../../cmd/mailhelm/demo/demodata/static/logo.png")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "logo.png"), logo, 0o600); err != nil {
		t.Fatal(err)
	}
	guide := p.Send(t, product.Request{URL: p.AppURL + "/docs/guides/images.md"}).Body
	var last string
	for _, block := range shellBlock.FindAllStringSubmatch(guide, -1) {
		command := exec.CommandContext(t.Context(), bash, "-eo", "pipefail", "-c", block[1])
		command.Dir, command.Env = folder, append(os.Environ(), "API_KEY="+p.Other.Live.APIKey)
		out, err := command.CombinedOutput()
		if last = string(out); err != nil || strings.Contains(last, `"status"`) {
			t.Fatalf("%s\n%v: %s", block[1], err, last)
		}
	}
	if !strings.Contains(last, `"source_path":"static/logo.png"`) || !strings.Contains(last, `"url":"`+p.AssetURL) || !strings.Contains(last, `"width":96`) {
		t.Errorf("the guide ends with %s", last)
	}
	var template struct{ HTML string }
	if read(t, p, p.Other.Live.APIKey, "/v1/templates/hello", &template); !strings.Contains(template.HTML, `{{asset 'static/logo.png'}}`) {
		t.Errorf("the template has %s", template.HTML)
	}
}
