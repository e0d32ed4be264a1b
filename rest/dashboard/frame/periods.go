package frame

// Periods is the data of the template "periods": links to the same page with the figures of
// other numbers of days.
type Periods struct {
	// Label names the links for screen readers.
	Label string
	Links []Period
	// Kept is the number of days for which the organization's plan keeps the records. It is 0
	// if the plan keeps them for all periods that the page offers.
	Kept int
}

// Period is the link to a number of days. Current is the value of aria-current, "" for other
// periods than the shown one.
type Period struct {
	Days          int
	Path, Current string
}

// PeriodsOf returns the links to the offered numbers of days for which the plan keeps
// records, with the shown one marked. address returns the address of the page with a number
// of days.
func PeriodsOf(label string, offered []int, shown, kept int, address func(days int) string) Periods {
	p := Periods{Label: label}
	for _, days := range offered {
		if days > kept {
			p.Kept = kept
			continue
		}
		link := Period{Days: days, Path: address(days)}
		if days == shown {
			link.Current = "true"
		}
		p.Links = append(p.Links, link)
	}
	return p
}
