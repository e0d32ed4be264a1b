package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
	"github.com/pelletier/go-toml/v2"
)

// TestPackagedFilesNameSettings checks that each setting in the files of a release exists:
// in the configuration file, the compose file, the unit and the variables of the image.
// Settings in comments count too, because readers remove the comment sign.
func TestPackagedFilesNameSettings(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&serve.Command{})
	if err != nil {
		t.Fatal(err)
	}
	var names, variables []string
	for _, flag := range parser.Model.Flags {
		names, variables = append(names, flag.Name), append(variables, settings.Environment(flag.Name))
	}
	packaged := func(name string) string {
		text, err := os.ReadFile(filepath.Join("packaging", "files", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	texts := packaged("compose.yaml") + packaged("mailhelm.service") + packaged("image.env")
	found := regexp.MustCompile(`\bMAILHELM_[A-Z_]+`).FindAllString(texts, -1)
	if len(found) < 12 {
		t.Errorf("only %v", found)
	}
	for _, name := range found {
		if name != "MAILHELM_VERSION" && !slices.Contains(variables, name) { // the version is of the image
			t.Errorf("there is no setting %s", name)
		}
	}
	uncommented := regexp.MustCompile(`(?m)^# ([a-z-]+ = )`).ReplaceAllString(packaged("mailhelm.toml"), "$1")
	var configured map[string]any
	if err := toml.Unmarshal([]byte(uncommented), &configured); err != nil || len(configured) < 5 {
		t.Fatalf("%v: %v", err, configured)
	}
	for name := range configured {
		if !slices.Contains(names, name) {
			t.Errorf("there is no setting %s", name)
		}
	}
	if !strings.Contains(packaged("mailhelm.service"), " serve --config /etc/mailhelm/mailhelm.toml") {
		t.Error("the unit does not use the configuration file of the package")
	}
}
