// Package templates has the dashboard pages about the email templates of the sending
// account. The texts of a template are shown as text and never as HTML of the dashboard,
// because their authors are not trusted.
package templates
