package generated

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/privacy"
)

const personalDataIntroduction = `---
title: Personal data in the database
group: Operation
order: 56
minutes: 5
summary: Every table with personal data, whose data it is, and for how long it is kept.
---

Recipients are people whom an organization writes to, correspondents are people who wrote to it, and users are people who sign in. [Answer requests about personal data](/guides/persons) says how an operator exports and erases the data of recipients and correspondents. "mailhelm admin user delete" erases users.

Tables that are not listed have no personal data. Texts that an organization writes itself, such as templates, subjects of broadcasts and names of lists, are not searched.

`

// personalDataGuide returns the guide that lists the register of personal data.
func personalDataGuide() string {
	subjects := []struct {
		of      privacy.Subject
		heading string
	}{{privacy.Recipient, "Recipients"}, {privacy.Correspondent, "Correspondents"}, {privacy.User, "Users"}}
	guide := strings.ReplaceAll(personalDataIntroduction, `"mailhelm admin user delete"`, "`mailhelm admin user delete`")
	for _, s := range subjects {
		guide += "## " + s.heading + "\n\n" + table([]string{"data", "what it holds", "when the person is erased", "kept"}, personalDataRows(s.of)) + "\n"
	}
	return strings.TrimRight(guide, "\n") + "\n"
}

func personalDataRows(of privacy.Subject) [][]string {
	erasure := map[privacy.Erasure]string{privacy.Delete: "deleted", privacy.Rewrite: "made anonymous", "": "deleted, or kept with the id alone"}
	var rows [][]string
	for _, t := range privacy.Register() {
		if t.Of != of {
			continue
		}
		var holds []string
		for _, c := range t.Data {
			if c.Of == "" && !slices.Contains(holds, c.Holds) {
				holds = append(holds, c.Holds)
			}
		}
		rows = append(rows, []string{t.Title + " (" + code(t.Name) + ")", strings.Join(holds, ", "), erasure[t.Erase], t.Kept})
	}
	return rows
}
