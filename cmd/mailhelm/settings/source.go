package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// environmentPrefix begins the names of all environment variables of this program.
const environmentPrefix = "MAILHELM_"

// standard maps settings to the environment variables that other programs also use for
// them. These variables have the lowest precedence, because they are not meant for Mailhelm
// alone.
var standard = map[string]string{"otlp-endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT"}

// configFlag is the name of the flag with the path of the configuration file. The file
// itself cannot set this flag.
const configFlag = "config"

// Sources gives kong, the command line parser, the values of flags that are not on the
// command line. It reads the environment and the configuration file and records the source
// of each value. One resolver reads both, because kong would prefer the file to the
// environment if each had its own.
type Sources struct {
	// lookup returns an environment variable and whether it is set, as os.LookupEnv does.
	lookup func(string) (string, bool)
	// file is the configuration file; its path is "" if none is used. loaded is true after
	// the first call of load, and failed is the error of that call.
	file   configFile
	loaded bool
	failed error
	// found maps the names of flags to the source of their value: a variable or the file.
	// Flags on the command line and flags with their default have no entry.
	found map[string]string
}

// NewSources returns sources that read the environment through lookup, which must behave
// like os.LookupEnv.
func NewSources(lookup func(string) (string, bool)) *Sources {
	return &Sources{lookup: lookup, found: map[string]string{}}
}

// Environment returns the name of the environment variable that sets a flag. flag has no
// leading dashes.
func Environment(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Validate does nothing; Resolve reports errors. kong.Resolver requires it.
func (s *Sources) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that is not on the command line, or nil if the
// default applies. An empty variable counts as unset, because some container tools cannot
// leave out a variable.
func (s *Sources) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !Configurable(flag) {
		return nil, nil
	}
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	name := Environment(flag.Name)
	if v, ok := s.lookup(name); ok && v != "" {
		s.found[flag.Name] = "environment " + name
		return v, nil
	}
	if v, ok := s.file.values[flag.Name]; ok {
		s.found[flag.Name] = "file " + s.file.path
		return fmt.Sprint(v), nil
	}
	if name, ok := standard[flag.Name]; ok {
		if v, ok := s.lookup(name); ok && v != "" {
			s.found[flag.Name] = "environment " + name
			return v, nil
		}
	}
	return nil, nil
}

// Configurable reports whether environment and configuration file may set a flag. Flags for
// a single run of a command have the tag once:"" and come only from the command line.
func Configurable(flag *kong.Flag) bool {
	return flag.Name != "help" && flag.Name != "json" && flag.Name != configFlag && !flag.Tag.Has("once")
}

// load reads and checks the configuration file that --config or MAILHELM_CONFIG names. It
// returns nil if none is named. Only the first call reads the file and can return an error.
func (s *Sources) load(ctx *kong.Context) error {
	if s.loaded {
		return nil
	}
	s.loaded = true
	s.file.path, _ = s.lookup(Environment(configFlag))
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == configFlag {
			s.file.path, _ = ctx.FlagValue(p.Flag).(string)
		}
	}
	if s.file.path == "" {
		return nil
	}
	if s.failed = s.file.read(); s.failed == nil {
		s.failed = s.file.check(ctx.Model)
	}
	return s.failed
}

// Failed returns the error of the configuration file, or nil. Kong wraps this error in one
// that names an unrelated flag, so callers prefer Failed.
func (s *Sources) Failed() error { return s.failed }

// Origins returns where the settings were set that the text of an error names, if not on the
// command line: " (--port is set in /etc/mailhelm.toml, line 3)". A text names a setting by its
// flag, or by its variable if it is a secret. Origins returns "" if the text names no such
// setting. Without this, the reader of an error would look for the flag on the command line.
func (s *Sources) Origins(text string) string {
	var places []string
	for _, named := range namePattern.FindAllString(text, -1) {
		flag, isFlag := strings.CutPrefix(named, "--")
		if !isFlag {
			flag = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(named, environmentPrefix), "_", "-"))
		}
		place := ""
		if variable, ok := strings.CutPrefix(s.found[flag], "environment "); ok && isFlag {
			place = named + " is set by the environment variable " + variable
		} else if strings.HasPrefix(s.found[flag], "file ") {
			place = named + " is set in " + s.file.place(flag)
		}
		if place != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return " (" + strings.Join(places, "; ") + ")"
}

// namePattern matches the names of flags and of variables of this program in a text.
var namePattern = regexp.MustCompile(`--[a-z][a-z0-9-]*|` + environmentPrefix + `[A-Z][A-Z0-9_]*`)

// File returns the path of the configuration file in use, "" for none.
func (s *Sources) File() string { return s.file.path }

// Of returns the source of a flag's value, such as "default" or "environment MAILHELM_X".
func (s *Sources) Of(ctx *kong.Context, flag string) string {
	for _, p := range ctx.Path {
		if p.Flag != nil && p.Flag.Name == flag && !p.Resolved {
			return "flag --" + flag
		}
	}
	if where, ok := s.found[flag]; ok {
		return where
	}
	return "default"
}

// Check returns an error if the master key is on the command line, where other users of the
// machine can read it.
func (s *Sources) Check(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		if p.Flag != nil && !p.Resolved && p.Flag.Name == "master-key" {
			return fmt.Errorf("the master key does not belong on the command line, where other users can read it: set %s, or leave it to the file in the data folder", Environment(p.Flag.Name))
		}
	}
	return nil
}
