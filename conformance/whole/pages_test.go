package whole

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"golang.org/x/net/html"
)

// textsPerList is the number of texts that are names in the same organization, and so on the
// same page of a list.
const textsPerList = 12

// TestNoTextBreaksOutOfAPage uses each hostile test text as the name of an organization, a
// client, an API key and a member. It checks that every page with the name has the same
// elements and attributes as with harmless names, and shows the name as text.
func TestNoTextBreaksOutOfAPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, product.Start(t, product.Options{}))
	known := map[string]map[string]bool{}
	// The second name is one that may be broken at its separators.
	b.eachPage(slices.Repeat([]string{"Harmless", "https://harmless.example.com/a"}, textsPerList/2), func(what string, page page, names ...string) {
		if known[what] == nil {
			known[what] = map[string]bool{}
		}
		maps.Copy(known[what], page.shapes())
		if !page.shows(names[0]) {
			t.Errorf("%s does not show the harmless name, so it shows nothing", what)
		}
	})
	for some := range slices.Chunk(storable(t), textsPerList) {
		var texts []string
		for _, h := range some {
			texts = append(texts, h.truncatedTo(longestName))
		}
		b.eachPage(texts, func(what string, page page, names ...string) {
			for shape := range page.shapes() {
				if !known[what][shape] {
					t.Errorf("%s with %.90q has %s, which it has not with a harmless name", what, names, shape)
				}
			}
			for _, name := range names {
				if !page.shows(name) {
					t.Errorf("%s does not show %.90q as text", what, name)
				}
			}
		})
	}
}

// browser is an HTTP client that is signed in to the dashboard as the owner.
type browser struct {
	t    *testing.T
	p    *product.Product
	http http.Client
	// in is the organization that the dashboard shows. The method (*browser).newOrg sets it.
	in core.Org
}

func newBrowser(t *testing.T, p *product.Product) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, p: p, http: *p.HTTP}
	b.http.Jar = jar
	form := url.Values{"email": {p.UserEmail}, "password": {p.UserPassword}}
	if status, _, text := b.send(http.MethodPost, p.AppURL+"/login", form.Encode()); status != http.StatusSeeOther {
		t.Fatalf("sign in: %d %s", status, text)
	}
	return b
}

func (b *browser) send(method, address, form string) (int, http.Header, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.p.AppURL)
	}
	response, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// things are a client, an API key and a user of an organization, all with the same name.
type things struct {
	name   string
	client access.Client
	key    access.APIKey
	person access.User
}

const redirect = "http://127.0.0.1/cb"

// newOrg creates an organization. The product's owner becomes an owner of the organization.
// The owner also leaves the organization of the previous call, so that pages show no earlier
// names.
func (b *browser) newOrg() {
	b.t.Helper()
	org := core.Org{ID: core.NewID(), Name: "New", Tier: "team", RetentionDays: 90}
	org.Slug = "s" + org.ID
	owner, err := b.p.DB.Users().UserByEmail(b.t.Context(), b.p.UserEmail)
	b.must(err)
	b.must(b.p.DB.Orgs().InsertOrg(b.t.Context(), org))
	b.must(b.p.DB.Members().SetMember(b.t.Context(), members.Member{OrgID: org.ID, UserID: owner.ID, Role: members.Owner}))
	b.switchToOrg(org.ID)
	if b.in.ID != "" {
		b.must(b.p.DB.Members().RemoveMember(b.t.Context(), b.in.ID, owner.ID))
	}
	b.in = org
}

// named creates an OAuth client, an API key and a member of the organization, all with the
// given name.
func (b *browser) named(name string) things {
	b.t.Helper()
	ctx, now := b.t.Context(), b.p.Clock.Now()
	id, minted := core.NewID(), access.MintAPIKey(core.Live)
	made := things{
		name: name,
		client: access.Client{
			ID: core.NewID(), OrgID: b.in.ID, ClientID: access.MintClientID(core.Live), Name: name, Environment: core.Live, Kind: access.RegisteredClient,
			Scopes: core.Scopes{core.ListsView}, RedirectURIs: []string{redirect}, CreatedAt: now,
		},
		key: access.APIKey{
			ID: core.NewID(), OrgID: b.in.ID, Prefix: minted.Prefix, SecretHash: minted.Hash, Name: name, Environment: core.Live,
			Scopes: core.Scopes{core.ListsView}, CreatedAt: now,
		},
		person: access.User{ID: id, Email: id + "@example.com", Name: name, CreatedAt: now},
	}
	b.must(b.p.DB.Clients().InsertClient(ctx, made.client))
	b.must(b.p.DB.Keys().InsertAPIKey(ctx, made.key))
	b.must(b.p.DB.Users().InsertUser(ctx, made.person))
	b.must(b.p.DB.Members().SetMember(ctx, members.Member{OrgID: b.in.ID, UserID: made.person.ID, Role: members.Owner}))
	return made
}

// switchToOrg makes the dashboard show the organization with the id.
func (b *browser) switchToOrg(orgID string) {
	b.t.Helper()
	status, _, text := b.send(http.MethodPost, b.p.AppURL+"/switch-org", url.Values{"org_id": {orgID}}.Encode())
	if status != http.StatusSeeOther {
		b.t.Fatalf("switch of organization: %d %s", status, text)
	}
}

func (b *browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// eachPage creates an organization with a client, an API key and a member of each of the
// names. It calls check with each page and the names on it; what is the kind of the page.
//
// For each name, eachPage gives the organization this name and opens the pages that show no
// other name, such as that of the client. It then opens the lists of keys, clients and
// members, which show all names, and two pages that show only the organization's name, the
// last one. Lists show concealed characters as escapes, so check does not receive names
// with such characters for a list.
func (b *browser) eachPage(names []string, check func(what string, page page, names ...string)) {
	b.t.Helper()
	b.newOrg()
	all := make([]things, 0, len(names))
	for _, name := range names {
		all = append(all, b.named(name))
	}
	for _, made := range all {
		b.in.Name = made.name
		b.must(b.p.DB.Orgs().SetOrgSettings(b.t.Context(), b.in))
		authorize := "/oauth/authorize?" + url.Values{
			"response_type": {"code"}, "client_id": {made.client.ClientID}, "redirect_uri": {redirect}, "resource": {b.p.BaseURL}, "state": {"s"},
			"code_challenge": {strings.Repeat("A", 43)}, "code_challenge_method": {"S256"},
		}.Encode()
		check("the consent page", b.open(b.p.AuthURL+authorize), made.name)
		for what, path := range map[string]string{
			"the overview": "/dashboard", "settings": "/dashboard/settings", "a key": "/dashboard/keys/" + made.key.ID,
			"a client": "/dashboard/clients/" + made.client.ID, "a member": "/dashboard/members/" + made.person.ID,
		} {
			check(what, b.open(b.p.AppURL+path), made.name)
		}
	}
	listed := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, found := findConcealed(name); return found })
	for _, list := range []string{"keys", "clients", "members"} {
		check(list, b.open(b.p.AppURL+"/dashboard/"+list), listed...)
	}
	for _, other := range []string{"audit", "grants"} {
		check(other, b.open(b.p.AppURL+"/dashboard/"+other), names[len(names)-1])
	}
}

func (b *browser) open(address string) page {
	b.t.Helper()
	status, header, text := b.send(http.MethodGet, address, "")
	if status != http.StatusOK {
		b.t.Fatalf("%s: %d %s %.300s", address, status, header.Get("Location"), text)
	}
	for name, values := range header {
		if r, found := findConcealed(strings.Join(values, "")); found {
			b.t.Errorf("%s: header %s holds %U", address, name, r)
		}
	}
	root, err := html.Parse(strings.NewReader(text))
	b.must(err)
	return page{root}
}

// page is a parsed HTML page.
type page struct{ root *html.Node }

// shapes returns the set of elements of a page. Each element is described by its parent,
// the names of its attributes, and the kind of URL in its links. The set also has the text
// of scripts and styles, and one entry for comments.
func (p page) shapes() map[string]bool {
	found := map[string]bool{}
	for n := range p.root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			found["a comment"] = true
		case html.ElementNode:
			attributes := map[string]bool{}
			for _, a := range n.Attr {
				attributes[a.Key+leadsTo(a)] = true
			}
			found[fmt.Sprintf("<%s> in <%s> with %v", n.Data, n.Parent.Data, slices.Sorted(maps.Keys(attributes)))] = true
			if n.Data == "script" || n.Data == "style" {
				found[n.Data+" "+textOf(n)] = true
			}
		}
	}
	return found
}

// leadsTo describes where an attribute that can cause a request points: " to a path" for a
// path of the same host, otherwise " to " and the value. It returns "" for other
// attributes.
func leadsTo(a html.Attribute) string {
	if !slices.Contains([]string{"href", "src", "action", "formaction", "style", "srcdoc", "content"}, a.Key) {
		return ""
	}
	if u, err := url.Parse(a.Val); err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") {
		return " to a path"
	}
	return " to " + a.Val
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	return b.String()
}

// shows reports whether a text node or an attribute of the page contains the text. Line
// ends are compared as an HTML parser normalizes them.
func (p page) shows(text string) bool {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for n := range p.root.Descendants() {
		if n.Type == html.TextNode && strings.Contains(n.Data, text) {
			return true
		}
		for _, a := range n.Attr {
			if strings.Contains(a.Val, text) {
				return true
			}
		}
	}
	return false
}
