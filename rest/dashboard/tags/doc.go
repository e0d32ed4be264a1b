// Package tags has the dashboard pages about tags: the list, the forms that create, change
// and delete a tag, and the form that sets the tags of a template.
//
// No operation changes tags, so the pages call core/tags in a transaction that checks the
// permission, and write an event to the audit log. A member may change tags with the
// permission to manage templates or with the one to manage broadcasts.
//
// Names of tags are texts of other people.
package tags
