package skill

import "toolgym/tools"

// Prefix stands before a skill's name where it is a tool.
const Prefix = "skill_"

func extractMacro(tools.Trajectory) ([]Skill, error) { return nil, nil }
