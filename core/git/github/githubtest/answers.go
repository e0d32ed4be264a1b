package githubtest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/git"
)

type object = map[string]any

// answer answers a request that has the right form and credential.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, name string, parts []string, body *json.Decoder) {
	switch name {
	case "app":
		write(w, http.StatusOK, object{"id": AppID, "slug": "mailhelm-test", "client_id": ClientID, "html_url": s.URL + "/apps/mailhelm-test", "name": "Mailhelm test"})
	case "token":
		s.token(w, parts[0], body)
	case "repository":
		write(w, http.StatusOK, object{"id": 1, "full_name": Name, "default_branch": s.defaultBranch, "private": true})
	case "branch":
		s.branch(w, parts[2])
	case "tree":
		s.tree(w, parts[2], r.URL.Query().Get("recursive") != "")
	case "blob":
		content, ok := s.blobs[parts[2]]
		if !ok {
			refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		write(w, http.StatusOK, object{"sha": parts[2], "size": len(content), "encoding": "base64", "content": encode(content)})
	case "ref":
		branch := strings.TrimPrefix(parts[2], "heads/")
		if id := s.branches[branch]; id != "" {
			write(w, http.StatusOK, object{"ref": "refs/heads/" + branch, "object": object{"type": "commit", "sha": id}})
			return
		}
		refuse(w, http.StatusNotFound, "Not Found")
	case "pulls":
		s.listPulls(w, r.URL.Query())
	case "installations":
		write(w, http.StatusOK, object{"total_count": 2, "installations": []object{{"id": 12, "app_id": 1}, {"id": Installation, "app_id": AppID}}})
	case "person", "repositories":
		s.person(w, r, name, parts, body)
	default:
		s.create(w, name, body)
	}
}

// token answers a request for an installation token.
func (s *Server) token(w http.ResponseWriter, installation string, body *json.Decoder) {
	var in struct {
		Repositories []string
		Permissions  map[string]string
	}
	if installation != strconv.Itoa(Installation) {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	if body.Decode(&in) != nil || len(in.Repositories) != 1 || "acme/"+in.Repositories[0] != Name {
		refuse(w, http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
		return
	}
	write(w, http.StatusCreated, object{"token": s.mint(Name), "expires_at": s.Clock().Add(time.Hour).UTC().Format(time.RFC3339), "permissions": in.Permissions, "repository_selection": "selected"})
}

func (s *Server) branch(w http.ResponseWriter, escaped string) {
	name, err := url.PathUnescape(escaped)
	id := s.branches[name]
	if err != nil || id == "" {
		refuse(w, http.StatusNotFound, "Branch not found")
		return
	}
	write(w, http.StatusOK, object{"name": name, "protected": false, "commit": object{"sha": id, "commit": object{
		"message": "A commit", "tree": object{"sha": s.commits[id][0]}, "committer": object{"name": "A", "date": "2026-03-04T05:06:07Z"},
	}}})
}

// tree lists a folder. The trees of the stand-in are lists of all files, so those of folders are made
// here.
func (s *Server) tree(w http.ResponseWriter, id string, recursive bool) {
	files, ok := s.trees[id]
	if !ok {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	listed, folders := []object{}, map[string]map[string]entry{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		e := files[path]
		for i := range path {
			if path[i] == '/' {
				of := folders[path[:i]]
				if of == nil {
					of = map[string]entry{}
					folders[path[:i]] = of
				}
				of[path[i+1:]] = e
			}
		}
		if recursive || !strings.Contains(path, "/") {
			kind := "blob"
			if e.mode == "160000" {
				kind = "commit"
			}
			listed = append(listed, object{"path": path, "mode": e.mode, "type": kind, "sha": e.id, "size": len(s.blobs[e.id])})
		}
	}
	for path, of := range folders {
		if recursive || !strings.Contains(path, "/") {
			listed = append(listed, object{"path": path, "mode": "040000", "type": "tree", "sha": s.addTree(of)})
		}
	}
	write(w, http.StatusOK, object{"sha": id, "tree": listed, "truncated": s.truncated && recursive})
}

func (s *Server) listPulls(w http.ResponseWriter, query url.Values) {
	all := []object{}
	for _, p := range s.pulls {
		if query.Get("head") == "acme:"+p.Head && (query.Get("state") == "all" || query.Get("state") == p.State) {
			all = append(all, p.object())
		}
	}
	slices.Reverse(all) // the newest first
	write(w, http.StatusOK, all)
}

func (p Pull) object() object {
	o := object{"number": p.Number, "state": p.State, "title": p.Title, "merged_at": nil, "head": object{"ref": p.Head}, "base": object{"ref": p.Base}}
	if p.Merged {
		o["merged_at"] = "2026-03-04T05:06:07Z"
	}
	return o
}

// person answers the requests about a person.
func (s *Server) person(w http.ResponseWriter, r *http.Request, name string, parts []string, body *json.Decoder) {
	if name == "person" {
		in := map[string]string{}
		_ = body.Decode(&in) // the shape was checked
		if _, ok := s.people[in["code"]]; !ok || in["client_id"] != ClientID || in["client_secret"] != ClientSecret {
			write(w, http.StatusOK, object{"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."})
			return
		}
		write(w, http.StatusOK, object{"access_token": s.mint("person:" + in["code"]), "token_type": "bearer", "scope": ""})
		return
	}
	code := strings.TrimPrefix(s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")], "person:")
	if parts[0] != strconv.Itoa(Installation) {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	all := []object{}
	for _, repository := range s.people[code] {
		full, readOnly := strings.CutPrefix(repository, "read:")
		all = append(all, object{"id": len(all), "full_name": full, "private": true, "permissions": object{"admin": false, "push": !readOnly, "pull": true}})
	}
	write(w, http.StatusOK, object{"total_count": len(all), "repositories": all})
}

// create makes an object of the repository.
func (s *Server) create(w http.ResponseWriter, name string, body *json.Decoder) {
	var in struct {
		Content, Encoding, Message, Ref, SHA, Title, Head, Base string
		BaseTree                                                string `json:"base_tree"`
		Parents                                                 []string
		Tree                                                    json.RawMessage
	}
	if err := body.Decode(&in); err != nil {
		s.t.Errorf("github: %s: %v", name, err)
	}
	switch name {
	case "new blob":
		content, err := base64.StdEncoding.DecodeString(in.Content)
		if err != nil || in.Encoding != "base64" {
			s.t.Errorf("github: a file in %q: %v", in.Encoding, err)
		}
		id := git.BlobID(content)
		s.blobs[id] = content
		write(w, http.StatusCreated, object{"sha": id, "url": s.URL})
	case "new tree":
		s.newTree(w, in.BaseTree, in.Tree)
	case "new commit":
		var tree string
		if err := json.Unmarshal(in.Tree, &tree); err != nil || s.trees[tree] == nil || len(in.Parents) != 1 || s.commits[in.Parents[0]] == nil || in.Message == "" {
			refuse(w, http.StatusUnprocessableEntity, "Tree SHA does not exist")
			return
		}
		write(w, http.StatusCreated, object{"sha": s.commit(tree, in.Parents)})
	case "new ref":
		branch, ok := strings.CutPrefix(in.Ref, "refs/heads/")
		if !ok || s.commits[in.SHA] == nil || s.branches[branch] != "" {
			refuse(w, http.StatusUnprocessableEntity, "Reference already exists")
			return
		}
		s.branches[branch] = in.SHA
		write(w, http.StatusCreated, object{"ref": in.Ref, "object": object{"type": "commit", "sha": in.SHA}})
	case "new pull":
		s.newPull(w, Pull{Number: len(s.pulls) + 1, Head: in.Head, Base: in.Base, Title: in.Title, State: "open"})
	}
}

func (s *Server) newTree(w http.ResponseWriter, base string, text json.RawMessage) {
	var changed []struct {
		Path, Mode string
		SHA        *string
	}
	before, ok := s.trees[base]
	if err := json.Unmarshal(text, &changed); err != nil || !ok {
		refuse(w, http.StatusUnprocessableEntity, "base_tree is not a valid tree oid")
		return
	}
	files := maps.Clone(before)
	for _, c := range changed {
		_, exists := files[c.Path]
		switch {
		case c.SHA == nil && !exists, c.SHA != nil && s.blobs[*c.SHA] == nil:
			refuse(w, http.StatusUnprocessableEntity, "GitRPC::BadObjectState")
			return
		case c.SHA == nil:
			delete(files, c.Path)
		default:
			files[c.Path] = entry{c.Mode, *c.SHA}
		}
	}
	if maps.Equal(files, before) {
		write(w, http.StatusCreated, object{"sha": base})
		return
	}
	write(w, http.StatusCreated, object{"sha": s.addTree(files)})
}

func (s *Server) newPull(w http.ResponseWriter, p Pull) {
	for _, other := range s.pulls {
		if other.Head == p.Head && other.State == "open" {
			write(w, http.StatusUnprocessableEntity, object{"message": "Validation Failed", "errors": []object{{"message": "A pull request already exists for acme:" + p.Head + "."}}})
			return
		}
	}
	if s.branches[p.Head] == "" || s.branches[p.Base] == "" {
		refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	s.pulls = append(s.pulls, p)
	write(w, http.StatusCreated, p.object())
}
