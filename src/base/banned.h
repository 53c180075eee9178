#ifndef VF_BASE_BANNED_H
#define VF_BASE_BANNED_H

/* Functions that overflow, truncate in silence, keep state or start a shell: compile errors (idea: git's banned.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strncpy strncat strtok atoi atol sscanf gets popen localtime gmtime

#endif
