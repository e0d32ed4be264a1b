package main

import (
	"strings"
	"testing"
)

func TestPackageOf(t *testing.T) {
	t.Parallel()
	for symbol, want := range map[string]string{
		"net/http.(*Client).Do":                     "net/http",
		"type:*net/http.Client":                     "net/http",
		"type:.eq.net/http.Client":                  "net/http",
		"type:[]*net/http.Client":                   "net/http",
		"go:itab.*os.File,io.Reader":                "os",
		"slices.SortFunc[go.shape.[]net/http.Foo]":  "slices",
		"gopkg.in/yaml%2ev3.Unmarshal":              "gopkg.in/yaml.v3",
		"github.com/go-git/go-git/v5/plumbing.init": "github.com/go-git/go-git/v5/plumbing",
		"main.main":       "main",
		"runtime.pclntab": "runtime",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
}

func TestTableOfCosts(t *testing.T) {
	t.Parallel()
	modules := map[string]string{"net/http": "std", "example.com/big/part": "example.com/big", "example.com/small": "example.com/small"}
	c := costs{}
	graph := `[{"Package": "net/http", "CmdUser": 3000000000, "CmdSys": 1000000000},
		{"Package": "example.com/big/part", "CmdUser": 5000000000}, {"Package": "example.com/small", "CmdUser": 100000000}, {"Package": "", "CmdUser": 0}]`
	if err := c.addTimes([]byte(graph), modules); err != nil {
		t.Fatal(err)
	}
	c.addSizes([]byte("  401000     900000 T example.com/big/part.(*T).M\n  501000 500 D net/http.x\n  601000 70000000 B net/http.zero\n      U puts\n"), modules)
	var out strings.Builder
	if err := c.write(&out); err != nil {
		t.Fatal(err)
	}
	const want = `| module | seconds | MB |
|---|--:|--:|
| ` + "`example.com/big`" + ` | 5.0 | 0.9 |
| ` + "`std`" + ` | 4.0 | 0.0 |
| 1 others | 0.1 | 0.0 |
| **total** | 9.1 | 0.9 |
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	if err := c.addTimes([]byte("{"), modules); err == nil {
		t.Error("a broken action graph is accepted")
	}
}
