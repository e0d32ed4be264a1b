// Package templates has the dashboard pages about email templates: the list, one template with
// a preview and checks, its source, the editor, and the versions with their differences.
//
// Templates that Mailhelm stores are saved through the operation templates_author. Templates
// of the sending account can only be read. Checks and previews of unsaved content, and
// versions, come from core/templates.
//
// The texts of a template are shown as text and never as HTML of the dashboard, because
// their authors are not trusted. A preview is a page of its own in a sandboxed frame: it
// runs no script and loads nothing over the network.
package templates
