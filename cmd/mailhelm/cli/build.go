package cli

import "runtime/debug"

// BuildInfo identifies the program. Version is "devel" unless the toolchain recorded
// another; Commit is a full revision or "unknown".
type BuildInfo struct{ Version, Commit string }

// Build returns the version and commit that the toolchain recorded. The commit is
// "unknown" unless the program was built in a checkout with `go build` or `go install`.
func Build() BuildInfo {
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
