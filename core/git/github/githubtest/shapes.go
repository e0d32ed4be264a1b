package githubtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// credential is who may send a request.
type credential int

const (
	asApp credential = iota
	asInstallation
	asPerson
	asNobody // the credentials are in the body
)

// shape is the form of a request.
type shape struct {
	method, path string // {} stands for one part of a path, {*} for the rest
	by           credential
	query        []string // allowed parameters
	// body has the types of members; a type that ends in "!" is required. nil means no body.
	body map[string]string
}

// shapes are the requests that an app may send to this stand-in.
var shapes = map[string]shape{
	"app":           {"GET", "/api/v3/app", asApp, nil, nil},
	"token":         {"POST", "/api/v3/app/installations/{}/access_tokens", asApp, nil, map[string]string{"repositories": "strings", "repository_ids": "numbers", "permissions": "object"}},
	"repository":    {"GET", "/api/v3/repos/{}/{}", asInstallation, nil, nil},
	"branch":        {"GET", "/api/v3/repos/{}/{}/branches/{}", asInstallation, nil, nil},
	"tree":          {"GET", "/api/v3/repos/{}/{}/git/trees/{}", asInstallation, []string{"recursive"}, nil},
	"blob":          {"GET", "/api/v3/repos/{}/{}/git/blobs/{}", asInstallation, nil, nil},
	"ref":           {"GET", "/api/v3/repos/{}/{}/git/ref/{*}", asInstallation, nil, nil},
	"pulls":         {"GET", "/api/v3/repos/{}/{}/pulls", asInstallation, []string{"state", "head", "base", "sort", "direction", "per_page", "page"}, nil},
	"new blob":      {"POST", "/api/v3/repos/{}/{}/git/blobs", asInstallation, nil, map[string]string{"content": "string!", "encoding": "string"}},
	"new tree":      {"POST", "/api/v3/repos/{}/{}/git/trees", asInstallation, nil, map[string]string{"tree": "entries!", "base_tree": "string"}},
	"new commit":    {"POST", "/api/v3/repos/{}/{}/git/commits", asInstallation, nil, map[string]string{"message": "string!", "tree": "string!", "parents": "strings", "author": "object", "committer": "object", "signature": "string"}},
	"new ref":       {"POST", "/api/v3/repos/{}/{}/git/refs", asInstallation, nil, map[string]string{"ref": "string!", "sha": "string!"}},
	"new pull":      {"POST", "/api/v3/repos/{}/{}/pulls", asInstallation, nil, map[string]string{"title": "string", "head": "string!", "head_repo": "string", "base": "string!", "body": "string", "maintainer_can_modify": "bool", "draft": "bool"}},
	"person":        {"POST", "/login/oauth/access_token", asNobody, nil, map[string]string{"client_id": "string!", "client_secret": "string!", "code": "string!", "redirect_uri": "string"}},
	"repositories":  {"GET", "/api/v3/user/installations/{}/repositories", asPerson, []string{"per_page", "page"}, nil},
	"installations": {"GET", "/api/v3/user/installations", asPerson, []string{"per_page", "page"}, nil},
}

// find returns the name of the shape of a request, and the parts of its path.
func find(method, path string) (string, []string) {
	for name, s := range shapes {
		pattern := strings.NewReplacer(`\{\}`, "([^/]+)", `\{\*\}`, "(.+)").Replace(regexp.QuoteMeta(s.path))
		if m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(path); m != nil && s.method == method {
			return name, m[1:]
		}
	}
	return "", nil
}

// check returns what is wrong with a request, apart from its credential.
func (s shape) check(r *http.Request, body []byte) error {
	if s.by != asNobody {
		if r.Header.Get("Accept") != "application/vnd.github+json" || r.Header.Get("X-GitHub-Api-Version") != "2022-11-28" {
			return fmt.Errorf("headers %v", r.Header)
		}
	} else if r.Header.Get("Accept") != "application/json" || r.Header.Get("Authorization") != "" {
		return fmt.Errorf("headers %v", r.Header)
	}
	if r.Header.Get("User-Agent") == "" {
		return fmt.Errorf("no User-Agent")
	}
	for name := range r.URL.Query() {
		if !slices.Contains(s.query, name) {
			return fmt.Errorf("the parameter %s", name)
		}
	}
	if s.body == nil {
		if len(body) > 0 {
			return fmt.Errorf("a body of %d bytes", len(body))
		}
		return nil
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return fmt.Errorf("the content type %q", r.Header.Get("Content-Type"))
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.body)) {
		value, there := members[name]
		kind, required := strings.CutSuffix(s.body[name], "!")
		if !there && !required {
			continue
		}
		if !isOf(kind, value) {
			return fmt.Errorf("the member %s is %v, not %s", name, value, kind)
		}
		delete(members, name)
	}
	if len(members) > 0 {
		return fmt.Errorf("the members %v", members)
	}
	return nil
}

// isOf reports whether a value has a type of a shape.
func isOf(kind string, value any) bool {
	all := func(is func(any) bool) bool {
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { return !is(v) })
	}
	switch kind {
	case "string":
		_, ok := value.(string)
		return ok
	case "bool":
		_, ok := value.(bool)
		return ok
	case "object":
		_, ok := value.(map[string]any)
		return ok
	case "strings":
		return all(func(v any) bool { return isOf("string", v) })
	case "numbers":
		return all(func(v any) bool { _, ok := v.(float64); return ok })
	case "entries":
		return all(isEntry)
	}
	return false
}

// isEntry reports whether a value is an entry of a new tree.
func isEntry(v any) bool {
	e, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for name, value := range e {
		switch {
		case name == "sha" && value == nil:
		case name == "mode" && !slices.Contains([]any{"100644", "100755", "040000", "160000", "120000"}, value):
			return false
		case name == "type" && !slices.Contains([]any{"blob", "tree", "commit"}, value):
			return false
		case !slices.Contains([]string{"path", "mode", "type", "sha", "content"}, name) || !isOf("string", value):
			return false
		}
	}
	return e["path"] != nil
}
