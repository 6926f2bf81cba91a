package stmt

// Named returns the tables that a statement names, including those in subqueries, once per place. It excludes names
// defined by the text's WITH.
func (s *Statement) Named() []TableName {
	list := append([]TableName(nil), s.Tables...)
	if s.Insert != nil {
		list = append(list, s.Insert.Table)
	}
	for _, b := range s.Blocks {
		for _, t := range b.Tables {
			if !t.Derived && t.Name != "" {
				list = append(list, t.TableName)
			}
		}
	}
	return list
}
