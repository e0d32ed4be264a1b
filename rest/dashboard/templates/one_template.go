package templates

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notices are the messages at the top of the page of a template.
var notices = frame.Notices{
	"saved":    "The template is saved as a new version. The sending account gets it in the background. No mail was sent.",
	"kept":     "The content is as before, so there is no new version. The test data is saved.",
	"same":     "The version has the content of the newest version, so there is no new version.",
	"restored": "The version is restored: its content is saved as a new version.",
}

// templatePage is the data of the page of one template.
type templatePage struct {
	Name, Slug, Version string
	Text                string
	Changed, Read       frame.When
	// Managed is true for a template that Mailhelm stores. Deployment describes its copy in
	// the sending account, and DeployFailure why the newest version is not there, or is "".
	Managed bool
	// Commit is the commit of the repository that the content comes from, "" for a template that no
	// repository defines, or whose files were never valid. FromGit is true for both.
	Commit  string
	FromGit bool
	// HasContent is false for a template whose files in the repository were never valid.
	HasContent                bool
	Deployment, DeployFailure string
	// Tags are the names of its tags. EditTags is the page that sets them, "" if the visitor
	// may not.
	Tags      []string
	EditTags  string
	Variables []variable
	// Faults are what is wrong with the template. FaultsLead comes before them on the page, and
	// Remedy after them.
	Faults             []string
	FaultsLead, Remedy string

	Findings []finding
	Figures  figures
	// MayReport is true if the visitor may see the figures and the messages. Messages is the
	// list of messages that were sent with the template.
	MayReport bool
	Messages  string
	Preview   panel
	// Source and Versions are pages about the template. Versions is "" for a template without
	// versions.
	Source, Versions string
	// Test is the page that sends a test, "" if the visitor may not send one or the template
	// has faults.
	Test string
}

// variable is a variable that a template uses.
type variable struct {
	Name     string
	Required bool
}

// showTemplate shows one template with a preview and checks.
func (h *Templates) showTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data, err := h.templatePage(r, v, t)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.Preview.Frame != "" {
		frame.AllowMailFrames(w)
	}
	head := frame.Head{Title: data.Name}
	switch {
	case mayWrite(v) && t.isManaged():
		head.Actions = []frame.Action{{Path: pathOf(t.Slug, "edit"), Name: "Edit template", Primary: true}}
	case mayWrite(v):
		head.Actions = []frame.Action{{Path: frame.Address(newPath, frame.Parameters{"from": t.Slug}), Name: "Copy to a new template"}}
	}
	if data.Versions != "" {
		head.Actions = append(head.Actions, frame.Action{Path: data.Versions, Name: "View versions"})
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "template", Title: data.Name, Head: head, Notice: notices.NoticeOf(r), Data: data})
}

// templatePage returns the data of the page of a template.
func (h *Templates) templatePage(r *http.Request, v people.Visitor, t template) (templatePage, error) {
	reads, err := h.Stored.ReadTimes(r.Context(), v.Org.ID)
	if err != nil {
		return templatePage{}, err
	}
	performance, err := h.performance(r, v, t.DeployedName)
	if err != nil {
		return templatePage{}, err
	}
	data := templatePage{
		Name: frame.PlainName(t.Name), Slug: t.Slug, Version: t.Version, Text: t.Text, Managed: t.isManaged(),
		Changed: h.WhenText(t.LastModified), Read: h.When(reads[t.DeployedName]), HasContent: t.hasContent(), FromGit: t.isFromGit(),
		MayReport: v.Member.Has(members.MayViewAnalytics), Figures: performance[strings.ToLower(t.DeployedName)],
		Messages: frame.Address(frame.Path+"/messages", frame.Parameters{"template": t.DeployedName}),
		Source:   pathOf(t.Slug, "source"),
	}
	if data.Managed {
		data.Version, data.Versions = strconv.Itoa(t.VersionNumber), pathOf(t.Slug, "versions")
		data.Deployment, data.DeployFailure = deploymentOf(t)
	}
	if data.FromGit {
		data.Commit = t.Version
	}
	if !data.HasContent {
		data.Version, data.Versions = "", ""
	}
	data.FaultsLead, data.Remedy = aboutFaults(t)
	for _, fault := range t.Diagnostics {
		data.Faults = append(data.Faults, frame.PlainName(fault))
	}
	if v.Member.Has(members.MayTestContent) && !t.isFaulty() {
		data.Test = pathOf(t.Slug, "test")
	}
	for _, tag := range t.Tags {
		data.Tags = append(data.Tags, frame.PlainName(tag))
	}
	mayTag := v.Member.Has(members.MayManageContent) || v.Member.Has(members.MayManageCampaigns)
	if mayTag && !(v.Org.GitConnected && t.isManaged()) {
		data.EditTags = pathOf(t.Slug, "tags")
	}
	for _, used := range t.Variables {
		data.Variables = append(data.Variables, variable{frame.PlainName(used.Name), used.Required})
	}
	if data.Findings, err = h.findingsOf(r, v, t); err != nil {
		return templatePage{}, err
	}
	data.Preview, err = h.panelOf(r, v, t)
	return data, err
}

// aboutFaults returns what the page says before and after the faults of a template.
func aboutFaults(t template) (lead, remedy string) {
	switch {
	case t.isFromGit() && t.hasContent():
		return "The newest files in the repository have faults, so messages have the last valid content:", "Correct the files and let the repository sync."
	case t.isFromGit():
		return "The files in the repository have never been valid, so the template has no content and is not sent:", "Correct the files and let the repository sync."
	case !t.hasContent():
		return "The template has no content and is not sent, because its files in the repository were never valid:", "Edit the template to give it content."
	case t.isManaged():
		return "The template has faults:", "Edit the template to correct them."
	}
	return "The template has faults:", "Correct it in the sending account."
}

// deploymentOf says which version of a managed template the sending account has, and why it
// is not the newest, or "".
func deploymentOf(t template) (deployment, failure string) {
	if t.DeployFailure != nil {
		failure = *t.DeployFailure
	}
	switch {
	case t.DeployedVersion == nil:
		return "Not yet", failure
	case *t.DeployedVersion == t.VersionNumber:
		return "Version " + strconv.Itoa(*t.DeployedVersion) + ", the newest", failure
	}
	return "Version " + strconv.Itoa(*t.DeployedVersion) + ", not the newest", failure
}
