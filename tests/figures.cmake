# make figures-check: the README's figures and picture against fresh ones, and bounds of flash and
# stack. Included by CMakeLists.txt.

foreach(part misra solve accuracy measured solvers boards rates picture)
    test(figures_${part} sh ${here}/figures.sh check ${part} ${CMAKE_C_COMPILER} ${scratch} ${root})
endforeach()
test(bounds sh ${here}/firmware/size.sh bounds ${scratch})
set_tests_properties(figures_measured figures_solvers figures_boards figures_rates PROPERTIES
    TIMEOUT 1800) # valgrind, and seven boards, emulated
