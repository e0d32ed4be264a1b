package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
)

func TestPathIsDecodedOnce(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for path, want := range map[string]string{
		"ada%40example.com":       "ada@example.com",
		"ada@example.com":         "ada@example.com",
		"ada+tag@example.com":     "ada+tag@example.com",
		"ada%2Btag%40example.com": "ada+tag@example.com",
		"a%2Fb%40example.com":     "a/b@example.com",
		"a%2540b":                 "a%40b",
		"a%20b":                   "a b",
		"%F0%9F%93%AE":            "📮",
		"%C3%BCmlaut":             "ümlaut",
		"%22quoted%22%5C":         `"quoted"\`,
		"..":                      "..",
		"a%0Ab":                   "a\nb",
		"a%25":                    "a%",
		"a&b=c;d":                 "a&b=c;d",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var got readIn
			s.do(t, http.MethodGet, "/v1/probes/"+path, "").want(200).decode(&got)
			if got.Name != want {
				t.Errorf("name = %q, want %q", got.Name, want)
			}
		})
	}
}

func TestPathThatIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for path, reason := range map[string]string{
		"%FF":                    "UTF-8",
		"a%00b":                  "NUL",
		strings.Repeat("x", 101): "at most 100",
	} {
		p := s.do(t, http.MethodGet, "/v1/probes/"+path, "").wantRefusal(422, core.CodeValidationFailed)
		if p.Errors[0].Field != "name" || !strings.Contains(p.Errors[0].Reason, reason) {
			t.Errorf("%.20s: errors = %+v, want name to say %q", path, p.Errors, reason)
		}
	}
	for _, path := range []string{"/v1/probes/", "/v1/probes/a/b", "/v1//probes/a", "/v1/probes/a/"} {
		s.do(t, http.MethodGet, path, "").wantRefusal(404, core.CodeNotFound)
	}
}

func TestQueryConverts(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	on, off := true, false
	for query, want := range map[string]readIn{
		"":                       {Name: "x"},
		"limit=7":                {Name: "x", Limit: 7},
		"deep=-9007199254740991": {Name: "x", Deep: -9007199254740991},
		"deep=0":                 {Name: "x"},
		"on=true":                {Name: "x", On: &on},
		"on=false&limit=1":       {Name: "x", On: &off, Limit: 1},
		"text=12":                {Name: "x", Text: "12"},
		"text=true":              {Name: "x", Text: "true"},
		"text=a%26b+c%2Bd":       {Name: "x", Text: "a&b c+d"},
		"text=":                  {Name: "x"},
		"text=%22%5C%3C":         {Name: "x", Text: `"\<`},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			var got readIn
			s.do(t, http.MethodGet, "/v1/probes/x?"+query, "").want(200).decode(&got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQueryThatIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for query, want := range map[string]core.FieldError{
		"limit=0":                  {Field: "limit", Reason: "must be at least 1"},
		"limit=201":                {Field: "limit", Reason: "must be at most 200"},
		"limit=":                   {Field: "limit", Reason: "must be integer"},
		"limit=07":                 {Field: "limit", Reason: "must be integer"},
		"limit=1e2":                {Field: "limit", Reason: "must be integer"},
		"limit=%2B5":               {Field: "limit", Reason: "must be integer"},
		"limit=-":                  {Field: "limit", Reason: "must be integer"},
		"limit=1,%22x%22:2":        {Field: "limit", Reason: "must be integer"},
		"on=1":                     {Field: "on", Reason: "must be boolean or null"},
		"on=TRUE":                  {Field: "on", Reason: "must be boolean or null"},
		"limit=1&limit=1":          {Field: "limit", Reason: "is given more than once in the query"},
		"name=y":                   {Field: "name", Reason: "is given by the path and may not be repeated in the query"},
		"Limit=1":                  {Field: "Limit", Reason: "is unknown; known names are name, limit, deep, on, text"},
		"offset=5":                 {Field: "offset", Reason: "is unknown; known names are name, limit, deep, on, text"},
		"text=%FF":                 {Field: "text", Reason: "is not valid UTF-8"},
		"text=%00":                 {Field: "text", Reason: "holds a NUL character"},
		"text=%zz":                 {Field: "", Reason: "has a query that is not encoded correctly"},
		"a;b":                      {Field: "", Reason: "has a query that is not encoded correctly"},
		"deep=9223372036854775808": {Field: "deep", Reason: "is a number that a 64-bit float cannot represent: it has too many digits or is out of range; write an identifier as a string"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			p := s.do(t, http.MethodGet, "/v1/probes/x?"+query, "").wantRefusal(422, core.CodeValidationFailed)
			if diff := cmp.Diff([]core.FieldError{want}, p.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBodyJoinsThePath(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
		want               written
	}{
		"replace":           {"PUT", "/v1/probes/a", `{"note":"x"}`, 200, written{Name: "a"}},
		"create":            {"PUT", "/v1/probes/new", `{}`, 201, written{Name: "new", New: true}},
		"empty with space":  {"PUT", "/v1/probes/a", " \r\n{\t }\n", 200, written{Name: "a"}},
		"null is kept":      {"PATCH", "/v1/probes/a", `{"note":null,"patch":{"gone":null,"kept":1}}`, 200, written{Name: "a", Patch: map[string]any{"gone": nil, "kept": 1.0}}},
		"as in the path":    {"PUT", "/v1/probes/a", `{"n\u0061me":"a","note":"x"}`, 200, written{Name: "a"}},
		"inner member":      {"PATCH", "/v1/probes/a", `{"patch":{"name":"b"}}`, 200, written{Name: "a", Patch: map[string]any{"name": "b"}}},
		"all from the body": {"POST", "/v1/probes", `{"name":"b"}`, 201, written{Name: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got written
			s.do(t, tc.method, tc.path, tc.body).want(tc.status).decode(&got)
			got.Count = 0
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
	if a := s.do(t, "DELETE", "/v1/probes/a", "").want(204); a.Body.Len() != 0 || a.Header().Get("Content-Type") != "" {
		t.Errorf("204 with body %q, type %q", a.Body, a.Header().Get("Content-Type"))
	}
}

func TestBodyThatIsRefused(t *testing.T) {
	t.Parallel()
	s, p := newProbeStack(t)
	const form = "application/x-www-form-urlencoded"
	for name, tc := range map[string]struct {
		method, target, body string
		headers              []string
		field, reason        string
	}{
		"none":                {"POST", "/v1/probes", "", nil, "", "no body"},
		"white space":         {"POST", "/v1/probes", "  ", nil, "", "is empty"},
		"not an object":       {"PUT", "/v1/probes/a", `["x"]`, nil, "", "must be object"},
		"null":                {"PUT", "/v1/probes/a", `null`, nil, "", "must be object"},
		"half an object":      {"PUT", "/v1/probes/a", `{`, nil, "", "not valid JSON"},
		"comma first":         {"PUT", "/v1/probes/a", `{,"note":"x"}`, nil, "", "not valid JSON"},
		"two values":          {"PUT", "/v1/probes/a", `{}{}`, nil, "", "something after"},
		"brace too many":      {"PUT", "/v1/probes/a", `{"note":"x"}}`, nil, "", ""},
		"not as in the path":  {"PUT", "/v1/probes/a", `{"note":"x","name":"A"}`, nil, "name", "given by the path"},
		"null for the path's": {"PUT", "/v1/probes/a", `{"note":"x","name":null}`, nil, "name", "given by the path"},
		"the path's twice":    {"PUT", "/v1/probes/a", `{"name":"a","name":"a"}`, nil, "name", "twice"},
		"the same, escaped":   {"PUT", "/v1/probes/a", `{"n\u0061me":"b"}`, nil, "name", "given by the path"},
		"named twice":         {"POST", "/v1/probes", `{"name":"a","name":"b"}`, nil, "name", "twice"},
		"wrong case":          {"POST", "/v1/probes", `{"name":"a","Note":"b"}`, nil, "Note", "is unknown"},
		"NUL":                 {"POST", "/v1/probes", `{"name":"a\u0000"}`, nil, "name", "NUL"},
		"raw NUL":             {"POST", "/v1/probes", "{\"name\":\"a\x00\"}", nil, "name", "not valid JSON"},
		"bad UTF-8":           {"POST", "/v1/probes", "{\"name\":\"\xff\"}", nil, "name", "not valid JSON"},
		"byte order mark":     {"POST", "/v1/probes", "\ufeff{\"name\":\"a\"}", nil, "", "not valid JSON"},
		"deep":                {"POST", "/v1/probes", strings.Repeat(`{"a":`, 10_000), nil, "", "deeper than 64"},
		"deep below the path": {"PUT", "/v1/probes/a", `{"patch":` + strings.Repeat(`[`, 10_000), nil, "", "deeper than 64"},
		"no content type":     {"POST", "/v1/probes", `{"name":"a"}`, []string{"Content-Type", ""}, "Content-Type", "application/json"},
		"form":                {"POST", "/v1/probes", `name=a`, []string{"Content-Type", form}, "Content-Type", "application/json"},
		"text":                {"POST", "/v1/probes", `{"name":"a"}`, []string{"Content-Type", "text/json"}, "Content-Type", "application/json"},
		"malformed type":      {"POST", "/v1/probes", `{"name":"a"}`, []string{"Content-Type", "application/json; ="}, "Content-Type", "application/json"},
		"latin-1":             {"POST", "/v1/probes", `{"name":"a"}`, []string{"Content-Type", "application/json; charset=iso-8859-1"}, "Content-Type", "utf-8"},
		"gzip":                {"POST", "/v1/probes", `{"name":"a"}`, []string{"Content-Encoding", "gzip"}, "Content-Encoding", "not supported"},
		"query on POST":       {"POST", "/v1/probes?name=a", `{"name":"a"}`, nil, "name", "in the query"},
		"query on PUT":        {"PUT", "/v1/probes/a?%6eote=x", `{}`, nil, "note", "in the query"},
		"body on GET":         {"GET", "/v1/probes/a", `{}`, nil, "", "has a body"},
		"body on DELETE":      {"DELETE", "/v1/probes/a", `{}`, nil, "", "has a body"},
		"over the limit":      {"POST", "/v1/probes", `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, nil, "", "more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problem := s.do(t, tc.method, tc.target, tc.body, tc.headers...).wantRefusal(422, core.CodeValidationFailed)
			if len(problem.Errors) == 0 || problem.Errors[0].Field != tc.field || !strings.Contains(problem.Errors[0].Reason, tc.reason) {
				t.Errorf("errors = %+v, want %q to say %q", problem.Errors, tc.field, tc.reason)
			}
		})
	}
	t.Cleanup(func() {
		if n := p.calls.Load(); n != 0 {
			t.Errorf("%d refused requests reached the operation", n)
		}
	})
}

func TestContentTypesThatAreJSON(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	for _, contentType := range []string{
		"application/json", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\"",
		"application/merge-patch+json", "Application/JSON",
	} {
		s.do(t, "PATCH", "/v1/probes/a", `{}`, "Content-Type", contentType).want(200)
	}
}

// TestBodyWithoutLength checks requests without the header Content-Length. A POST must be
// refused if its body is missing or too large, and a GET if it has any body.
func TestBodyWithoutLength(t *testing.T) {
	t.Parallel()
	s, _ := newProbeStack(t)
	chunked := func(method, target, body string) *answer {
		r := s.request(method, target, body, "Content-Type", "application/json")
		if body == "" {
			r = s.request(method, target, " ")
			r.Body = http.NoBody
		}
		r.ContentLength = -1
		return s.serve(t, r)
	}
	chunked("POST", "/v1/probes", `{"name":"a"}`).want(201)
	chunked("POST", "/v1/probes", "").wantRefusal(422, core.CodeValidationFailed)
	chunked("POST", "/v1/probes", `{"name":"`+strings.Repeat("a", 2<<20)+`"}`).wantRefusal(422, core.CodeValidationFailed)
	chunked("GET", "/v1/probes/a", "").want(200)
	chunked("GET", "/v1/probes/a", "x").wantRefusal(422, core.CodeValidationFailed)
}
