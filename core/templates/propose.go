package templates

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core"
)

// pullRequestOpen is the value of AuthoredTemplate.Status for a template that was proposed.
const pullRequestOpen = "pull_request_open"

// proposer proposes templates in the repository of an organization.
type proposer struct{ *Templates }

// propose proposes a template in the repository of the organization, which defines its templates.
func (t proposer) propose(ctx context.Context, c *core.Call, in AuthorTemplateIn, open core.OpenPullRequest) (AuthoredTemplate, error) {
	in, err := t.prepareTemplate(ctx, c, in)
	if err != nil {
		return AuthoredTemplate{}, err
	}
	org := c.Principal.Org.ID
	stored, err := t.Managed.ManagedBySlug(ctx, org, in.Slug)
	isNew := core.IsNotFound(err)
	if err != nil && !isNew {
		return AuthoredTemplate{}, err
	}
	before := stored.Newest
	switch {
	case isNew:
		before.Subject = in.Slug
		err = t.refuseCreation(ctx, c, in)
	case in.Base != before.Hash:
		err = staleBase(c, in, before)
	}
	if err != nil {
		return AuthoredTemplate{}, err
	}
	next := in.applyTo(before, c)
	if err := checkSize(next); err != nil {
		return AuthoredTemplate{}, err
	}
	change, err := in.repositoryChange(before, next)
	if err != nil {
		return AuthoredTemplate{}, err
	}
	opened, err := open(ctx, change)
	if err != nil {
		return AuthoredTemplate{}, err
	}
	stored.Newest = next
	if in.testData != "" {
		stored.TestData = in.testData
	}
	diagnostics, err := t.diagnostics(ctx, org, stored)
	out := AuthoredTemplate{
		Status: pullRequestOpen, PullRequestBranch: &opened.Branch, ContentHash: next.Hash, VersionNumber: before.Number, Diagnostics: diagnostics,
		Summary: opened.Summary("template"),
	}
	if opened.URL != "" {
		out.PullRequestURL = &opened.URL
	}
	return out, err
}

// repositoryChange returns the change of files that saves the version after another one.
func (in AuthorTemplateIn) repositoryChange(before, next Version) (core.RepositoryChange, error) {
	d := core.RepositoryDefinition{
		Kind: "template", Key: in.Slug, Source: in.HTML, Subject: next.Subject, Text: next.Text, NoText: before.Text != "" && next.Text == "",
	}
	if in.testData != "" {
		decoder := json.NewDecoder(bytes.NewReader([]byte(in.testData)))
		if err := decoder.Decode(&d.TestData); err != nil {
			return core.RepositoryChange{}, err
		}
	}
	return core.RepositoryChange{Title: "Save the template " + in.Slug, Message: in.Message, Definitions: []core.RepositoryDefinition{d}}, nil
}
