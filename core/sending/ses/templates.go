package ses

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

// templatesPage is the maximum page size that SES allows when listing templates.
const templatesPage = 100

// TemplatesPage returns a page of at most 100 names of templates and the token of the next
// page, "" after the last.
func (a *Account) TemplatesPage(ctx context.Context, _, token string) ([]sending.TemplateName, string, error) {
	var page []sending.TemplateName
	var next string
	err := a.call(ctx, func(ctx context.Context) error {
		out, err := a.api.ListEmailTemplates(ctx, &sesv2.ListEmailTemplatesInput{PageSize: aws.Int32(templatesPage), NextToken: nilIfEmpty(token)})
		if err != nil {
			return err
		}
		next = aws.ToString(out.NextToken)
		for _, t := range out.TemplatesMetadata {
			page = append(page, sending.TemplateName{Name: aws.ToString(t.TemplateName), CreatedAt: timeOf(t.CreatedTimestamp)})
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// Template returns the template with this name and its content. It fails with NotFound if
// it does not exist.
func (a *Account) Template(ctx context.Context, _, name string) (sending.Template, error) {
	if name == "" {
		return sending.Template{}, invalid("no name")
	}
	var t sending.Template
	err := a.call(ctx, func(ctx context.Context) error {
		out, err := a.api.GetEmailTemplate(ctx, &sesv2.GetEmailTemplateInput{TemplateName: &name})
		if err != nil {
			return err
		}
		t.Name = aws.ToString(out.TemplateName)
		if c := out.TemplateContent; c != nil {
			t.Subject, t.Text, t.HTML = aws.ToString(c.Subject), aws.ToString(c.Text), aws.ToString(c.Html)
		}
		return nil
	})
	if err != nil {
		return sending.Template{}, err
	}
	return t, nil
}

// PutTemplate creates the template or replaces its content.
func (a *Account) PutTemplate(ctx context.Context, _ string, t sending.Template) error {
	if t.Name == "" {
		return invalid("no name")
	}
	content := &types.EmailTemplateContent{Subject: &t.Subject, Text: nilIfEmpty(t.Text), Html: nilIfEmpty(t.HTML)}
	return a.call(ctx, func(ctx context.Context) error {
		err := a.updateTemplate(ctx, t.Name, content)
		if !sending.IsNotFound(failureOf(ctx, err)) {
			return err
		}
		_, err = a.api.CreateEmailTemplate(ctx, &sesv2.CreateEmailTemplateInput{TemplateName: &t.Name, TemplateContent: content})
		// another caller, or an earlier attempt of this call, has created the template
		if code(err) == "AlreadyExistsException" {
			return a.updateTemplate(ctx, t.Name, content)
		}
		return err
	})
}

func (a *Account) updateTemplate(ctx context.Context, name string, content *types.EmailTemplateContent) error {
	_, err := a.api.UpdateEmailTemplate(ctx, &sesv2.UpdateEmailTemplateInput{TemplateName: &name, TemplateContent: content})
	return err
}

// DeleteTemplate removes a template. It succeeds when the template does not exist.
func (a *Account) DeleteTemplate(ctx context.Context, _, name string) error {
	if name == "" {
		return invalid("no name")
	}
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.api.DeleteEmailTemplate(ctx, &sesv2.DeleteEmailTemplateInput{TemplateName: &name})
		if sending.IsNotFound(failureOf(ctx, err)) {
			return nil
		}
		return err
	})
}
