package layout

import (
	"slices"
	"strings"
	"testing"
)

// maxChain is the maximum length of a chain of packages of this repository, each of which
// imports the next. The reason for this limit is in core/doc/decisions, page 0073.
const maxChain = 9

func TestImportDirections(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).Sources {
		for _, imported := range s.Imports() {
			if why := refusal(s.Folder(), imported, s.IsTest()); why != "" {
				t.Errorf("%s imports %s: %s", s.Path, imported, why)
			}
		}
	}
}

// TestRefusal checks the function refusal with imports that must be allowed and imports
// that must be forbidden.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		folder, imported string
		test             bool
		refused          bool
	}{
		{"cmd/mailhelm/serve", Module + "/tools", false, false},
		{"cmd/mailhelm/admin", Module + "/cmd/mailhelm/serve", false, false},
		{"cmd/mailhelm/importing", Module + "/cmd/mailhelm/importing/backfill", false, false},
		{"cmd/mailhelm/serve", Module + "/cmd/mailhelm/admin", false, true},
		{"cmd/mailhelm", Module + "/cmd/mailhelm/demo", false, false},
		{"tools", Module + "/guardrails", false, false},
		{"tools", Module + "/core/access", false, false},
		{"tools", Module + "/rest", false, true},
		{"rest/docs", Module + "/oauth", false, true},
		{"rest/docs", Module + "/rest", false, false},
		{"oauth", Module + "/storage", false, true},
		{"oauth", Module + "/storage/storagetest", true, false},
		{"oauth", Module + "/tools", true, true},
		{"guardrails", Module + "/storage", false, true},
		{"guardrails", Module + "/guardrails/redisbuckets", false, true},
		{"guardrails/redisbuckets", Module + "/guardrails", false, false},
		{"tools", Module + "/guardrails/redisbuckets", false, true},
		{"cmd/mailhelm/serve", Module + "/guardrails/redisbuckets", false, false},
		{"storage", Module + "/core/contacts", false, false},
		{"storage", Module + "/guardrails", false, true},
		{"storage", Module + "/storage/messages", false, false},
		{"storage/messages", Module + "/storage/engine", false, false},
		{"storage/messages", Module + "/storage/reports", false, true},
		{"storage/messages", Module + "/storage", false, true},
		{"storage/bulk", Module + "/storage/contacts", false, false},
		{"storage/contacts", Module + "/storage/bulk", false, true},
		{"storage/lists", Module + "/storage/contacts", false, true},
		{"storage/messages", Module + "/storage/storagetest", true, false},
		{"storage/engine", Module + "/core/jobs", false, false},
		{"storage/engine", Module + "/core/messages", false, true},
		{"storage/engine", Module + "/storage/messages", false, true},
		{"storage", Module + "/core/sending/simulator", false, true},
		{"core", Module + "/storage", false, true},
		{"core", Module + "/core/contacts", false, true},
		{"core", "net/http", false, true},
		{"core", "net/http", true, false},
		{"core/contacts", "database/sql", false, true},
		{"core/contacts", "net/url", false, false},
		{"core/contacts", "github.com/modelcontextprotocol/go-sdk/mcp", false, true},
		{"core/contacts", Module + "/core/sending", false, false},
		{"core/contacts", Module + "/core/access", false, true},
		{"core/contacts", Module + "/core/sending/simulator", false, true},
		{"core/contacts", Module + "/core/sending/simulator", true, false},
		{"core/sending", Module + "/core/sending/simulator", false, true},
		{"core/sending/simulator", Module + "/core/sending", false, false},
		{"core/sending/simulator", Module + "/core/contacts", false, true},
		{"core/sending/simulator", Module + "/core/outbound", false, true},
		{"core/sending/smtp", Module + "/core/outbound", false, false},
		{"core/sending/smtp", Module + "/core/contacts", false, true},
		{"core/sending/simulator", "database/sql", false, false},
		{"rest/ingest", Module + "/core/outbound/fetch", false, false},
		{"rest/pull", Module + "/core/outbound/fetch", false, true},
		{"rest/ingest", Module + "/core/sending/ses", false, true},
		{"core/outbound", Module + "/core/outbound/fetch", false, true},
		{"core/catalogue", Module + "/core/contacts", false, false},
		{"conformance/parity", Module + "/cmd/mailhelm/serve", false, false},
		{"rest", Module + "/cmd/mailhelm/serve", true, true},
	} {
		if why := refusal(tc.folder, tc.imported, tc.test); (why != "") != tc.refused {
			t.Errorf("%s imports %s (test: %t): refused %q, want refused: %t", tc.folder, tc.imported, tc.test, why, tc.refused)
		}
	}
}

// TestRefusalOfDomainParts checks that the parts of a domain follow the rules for the domain.
func TestRefusalOfDomainParts(t *testing.T) {
	t.Parallel()
	const part = "core/workflows/language"
	for imported, refused := range map[string]bool{
		Module + "/core/predicate": false, Module + "/core/contacts": true, Module + "/core/sending/simulator": true, "net/http": true,
	} {
		if why := refusal(part, imported, false); (why != "") != refused {
			t.Errorf("%s imports %s: refused %q, want refused: %t", part, imported, why, refused)
		}
	}
	if why := refusal("core/workflows", Module+"/"+part, false); why != "" {
		t.Errorf("the domain may not import its part: %s", why)
	}
}

// TestDomainEdgesAreUsed checks that each import allowed by domainEdges exists in the code.
// An entry without such an import must be removed.
func TestDomainEdgesAreUsed(t *testing.T) {
	t.Parallel()
	used := map[[2]string]bool{}
	for _, s := range repository(t).Sources {
		for _, imported := range s.Imports() {
			target, ours := strings.CutPrefix(imported, Module+"/core/")
			if ours && top(s.Folder()) == "core" && !s.IsTest() {
				used[[2]string{domain(s.Folder()), top(target)}] = true
			}
		}
	}
	for edge, reason := range domainEdges {
		if !used[edge] {
			t.Errorf("%s no longer imports %s (%s): take the edge out", edge[0], edge[1], reason)
		}
	}
}

func TestSurfaceAdaptersAreUsed(t *testing.T) {
	t.Parallel()
	for edge, reason := range surfaceAdapters {
		if !slices.ContainsFunc(repository(t).Sources, func(s Source) bool {
			return s.Folder() == edge[0] && !s.IsTest() && slices.Contains(s.Imports(), Module+"/"+edge[1])
		}) {
			t.Errorf("%s no longer imports %s (%s): take it out", edge[0], edge[1], reason)
		}
	}
}

func TestCoreModulesAreUsed(t *testing.T) {
	t.Parallel()
	for module := range coreModules {
		if !slices.ContainsFunc(repository(t).Sources, func(s Source) bool {
			return top(s.Folder()) == "core" && !isAdapter(s.Folder()) && slices.ContainsFunc(s.Imports(), func(imported string) bool {
				return imported == module || strings.HasPrefix(imported, module+"/")
			})
		}) {
			t.Errorf("core no longer imports %s: take it out", module)
		}
	}
}

func TestImportChain(t *testing.T) {
	t.Parallel()
	graph := map[string][]string{}
	for _, s := range repository(t).Sources {
		for _, imported := range s.Imports() {
			if target, ours := strings.CutPrefix(imported, Module+"/"); ours && !s.IsTest() {
				graph[s.Folder()] = append(graph[s.Folder()], target)
			}
		}
	}
	longest := map[string][]string{}
	var follow func(folder string) []string
	follow = func(folder string) []string {
		if chain, known := longest[folder]; known {
			return chain
		}
		var best []string
		for _, target := range graph[folder] {
			if chain := follow(target); len(chain) > len(best) {
				best = chain
			}
		}
		longest[folder] = append([]string{folder}, best...)
		return longest[folder]
	}
	var chain []string
	for folder := range graph {
		if c := follow(folder); len(c) > len(chain) {
			chain = c
		}
	}
	t.Logf("longest import chain, %d packages: %s", len(chain), strings.Join(chain, " -> "))
	if len(chain) > maxChain {
		t.Errorf("the longest import chain has %d packages, at most %d are wanted", len(chain), maxChain)
	}
}
