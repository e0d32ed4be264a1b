package templates_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
)

// fault is a diagnostic about a file of the repository, as JSON.
const fault = `"\"templates/` + escaped + `.hbs\" line 2, column 4: The block is not closed."`

// fromGit returns a result of templates_get for a template of the repository with a fault in its files.
func fromGit(v stored.Version) string {
	return strings.NewReplacer(
		`"source":"managed"`, `"source":"git"`, `"version":"`+v.Hash[:7]+`"`, `"version":"0123abc"`,
		`"validation_status":"valid","diagnostics":[]`, `"validation_status":"invalid","diagnostics":[`+fault+`]`, `"The sending account refused the content."`, "null",
	).Replace(managed(v))
}

// TestGoldenTemplatesOfTheRepository shows a template whose newest files have a fault, with its last valid content,
// and one whose files were never valid, which has none.
func TestGoldenTemplatesOfTheRepository(t *testing.T) {
	t.Parallel()
	o := newManaged(t)
	o.Site.Visitor.Org.GitConnected = true
	valid := fromGit(versions(o.User.ID)[2])
	never := strings.NewReplacer(`"version_number":3,"deployed_version":2`, `"version_number":0,"deployed_version":null`, `"version":"0123abc"`, `"version":""`).
		Replace(fromGit(stored.Version{Subject: "news/weekly", Hash: strings.Repeat("0", 64)}))
	for name, result := range map[string]string{"repository": valid, "repository_never_valid": never} {
		o.operations.Results["templates_get"] = result
		status, page := frametest.Get(t, o.pages, weekly)
		if status != http.StatusOK || strings.Contains(page, "page failed") {
			t.Errorf("%s: %d", name, status)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	o.operations.Results["templates_get"] = valid
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, weekly+"/preview?data=%7B%22first_name%22%3A%22Ada%22%7D", nil)
	r.Header.Set("Sec-Fetch-Dest", "iframe")
	w := httptest.NewRecorder()
	o.pages.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "<p>Hello Ada</p>") {
		t.Errorf("the last valid content is not rendered: %s", w.Body)
	}
	o.operations.Results["templates_list"] = `{"data":[` + valid + `,` + never + `],"pagination":{"has_more":false,"next_cursor":null}}`
	_, page := frametest.Get(t, o.pages, templates.TemplatesPath)
	if strings.Count(page, `<span class="mark">repository</span> <span class="mark ended">invalid</span>`) != 2 || strings.Contains(page, `>written here<`) {
		t.Errorf("the list: %s", page)
	}
}
