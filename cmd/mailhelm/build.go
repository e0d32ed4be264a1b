package main

import (
	"runtime/debug"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// build is what the toolchain knows of this program. The commit is there when it
// was built inside a checkout, which `go run` and a module download are not.
func build() config.Build {
	b := config.Build{Version: "devel", Commit: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && s.Value != "" {
			b.Commit = s.Value
		}
	}
	return b
}
