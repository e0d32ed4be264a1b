package cli

import "runtime/debug"

// BuildInfo identifies the program. Version is "devel" unless the Go toolchain recorded a
// version. Commit is the full revision or "unknown".
type BuildInfo struct{ Version, Commit string }

// version and commit are set by the linker in a release: -X .../cli.version=1.2.3.
var version, commit string

// Build returns the version and the commit of a release, or those that the Go toolchain
// recorded in the program. The commit is "unknown" unless `make release` made the program,
// or `go build` or `go install` ran in a checkout.
func Build() BuildInfo {
	if version != "" {
		return BuildInfo{Version: version, Commit: commit}
	}
	b := BuildInfo{Version: "devel", Commit: "unknown"}
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
