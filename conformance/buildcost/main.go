// Command buildcost shows what each module costs: the processor time for which the compiler
// runs in a build without a cache, and the bytes of its functions and data in the program.
//
//	go run ./conformance/buildcost          # compiles everything, for minutes
//	go run ./conformance/buildcost -sizes   # only sizes, with the cache
//
// It passes the environment to go build, so GOFLAGS applies to both figures. Tables of
// functions, with which stack traces are written, are two thirds as large as the functions;
// the linker writes them as one, so they belong to no module here.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

const program = "github.com/mailhelm/mailhelm/cmd/mailhelm"

func main() {
	sizesOnly := flag.Bool("sizes", false, "measure no times, so that the build uses the cache")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *sizesOnly, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "buildcost:", err)
		os.Exit(1)
	}
}

// run builds the program and writes the table.
func run(ctx context.Context, sizesOnly bool, out io.Writer) error {
	folder, err := os.MkdirTemp("", "buildcost")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	binary, graph := filepath.Join(folder, "mailhelm"), filepath.Join(folder, "graph.json")
	build := exec.CommandContext(ctx, "go", "build", "-debug-actiongraph", graph, "-o", binary, program)
	build.Env = os.Environ()
	if !sizesOnly {
		build.Env = append(build.Env, "GOCACHE="+filepath.Join(folder, "cache"))
	}
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	modules, err := modulesOf(ctx)
	if err != nil {
		return err
	}
	costs := costs{}
	if !sizesOnly {
		content, err := os.ReadFile(graph)
		if err != nil {
			return err
		}
		if err := costs.addTimes(content, modules); err != nil {
			return err
		}
	}
	symbols, err := exec.CommandContext(ctx, "go", "tool", "nm", "-size", binary).Output()
	if err != nil {
		return fmt.Errorf("go tool nm: %w", err)
	}
	costs.addSizes(symbols, modules)
	return costs.write(out)
}

// modulesOf returns the module of each package of the program by the package's path. Packages
// of the standard library have the module "std".
func modulesOf(ctx context.Context) (map[string]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{else}}std{{end}}", program)
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		modules[path] = module
	}
	return modules, nil
}

// cost is what one module costs.
type cost struct {
	seconds float64 // of processor time
	bytes   int
}

// costs has the cost of each module by its path.
type costs map[string]cost

// other is the module of what belongs to no package, such as the linking.
const other = "(linker)"

// addTimes adds the times in an action graph of go build.
func (c costs) addTimes(graph []byte, modules map[string]string) error {
	var actions []struct {
		Package         string
		CmdUser, CmdSys int64 // nanoseconds
	}
	if err := json.Unmarshal(graph, &actions); err != nil {
		return fmt.Errorf("the action graph of go build: %w", err)
	}
	for _, a := range actions {
		if spent := a.CmdUser + a.CmdSys; spent > 0 {
			module := cmp.Or(modules[a.Package], other)
			one := c[module]
			one.seconds += float64(spent) / 1e9
			c[module] = one
		}
	}
	return nil
}

// emptyMemory is a variable of the standard library with 32 MB, which go tool nm calls data.
const emptyMemory = "crypto/internal/fips140/drbg.memory"

// addSizes adds the sizes in a list of symbols, as go tool nm prints it.
func (c costs) addSizes(symbols []byte, modules map[string]string) {
	for line := range bytes.Lines(symbols) {
		var address, kind string
		var size int
		if n, err := fmt.Sscan(string(line), &address, &size, &kind); n < 3 || err != nil {
			continue // a symbol without an address
		}
		_, name, _ := strings.Cut(string(bytes.TrimSpace(line)), " "+kind+" ")
		if strings.EqualFold(kind, "b") || name == emptyMemory {
			continue // memory that is empty at the start, and not in the file
		}
		module := cmp.Or(modules[packageOf(name)], other)
		one := c[module]
		one.bytes += size
		c[module] = one
	}
}

// packageOf returns the path of the package of a symbol, such as net/http for
// net/http.(*Client).Do and for type:*net/http.Client.
func packageOf(symbol string) string {
	symbol = strings.TrimPrefix(symbol, "type:.eq.")
	for _, prefix := range []string{"type:", "go:itab."} {
		symbol = strings.TrimPrefix(symbol, prefix)
	}
	symbol = strings.TrimLeft(symbol, "*[]")
	if i := strings.IndexAny(symbol, "[({,"); i >= 0 {
		symbol = symbol[:i]
	}
	slash := strings.LastIndexByte(symbol, '/') + 1
	if i := strings.IndexByte(symbol[slash:], '.'); i >= 0 {
		symbol = symbol[:slash+i]
	}
	// the linker escapes dots in the last element of a path
	return strings.ReplaceAll(symbol, "%2e", ".")
}

// leastBytes and leastSeconds are the smallest figures with which a module has a line of its own.
const leastBytes, leastSeconds = 300_000, 2.5

// write writes the table in Markdown, the modules that take most time first, and those
// without a line of their own together.
func (c costs) write(out io.Writer) error {
	var rest, all cost
	var named []string
	for module, one := range c {
		all.seconds, all.bytes = all.seconds+one.seconds, all.bytes+one.bytes
		if one.seconds >= leastSeconds || one.bytes >= leastBytes {
			named = append(named, module)
			continue
		}
		rest.seconds, rest.bytes = rest.seconds+one.seconds, rest.bytes+one.bytes
	}
	slices.SortFunc(named, func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b].seconds, c[a].seconds), cmp.Compare(c[b].bytes, c[a].bytes), strings.Compare(a, b))
	})
	var text strings.Builder
	text.WriteString("| module | seconds | MB |\n|---|--:|--:|\n")
	line := func(name string, one cost) {
		fmt.Fprintf(&text, "| %s | %.1f | %.1f |\n", name, one.seconds, float64(one.bytes)/1e6)
	}
	for _, module := range named {
		line("`"+module+"`", c[module])
	}
	line(fmt.Sprintf("%d others", len(c)-len(named)), rest)
	line("**total**", all)
	_, err := io.WriteString(out, text.String())
	return err
}
